WITH frequent_items AS (
    SELECT substr(i_item_desc, 1, 30) AS itemdesc, i_item_sk AS item_sk, d_date AS solddate, count(*) AS cnt
    FROM store_sales, date_dim, item
    WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND d_year IN (2000, 2001)
    GROUP BY substr(i_item_desc, 1, 30), i_item_sk, d_date HAVING count(*) > 1),
max_store_sales AS (
    SELECT max(csales) AS cmax FROM (
        SELECT c_customer_sk, sum(ss_quantity * ss_sales_price) AS csales
        FROM store_sales, customer, date_dim
        WHERE ss_customer_sk = c_customer_sk AND ss_sold_date_sk = d_date_sk AND d_year IN (2000, 2001)
        GROUP BY c_customer_sk) x),
best_customers AS (
    SELECT c_customer_sk AS customer_sk, sum(ss_quantity * ss_sales_price) AS ssales
    FROM store_sales, customer
    WHERE ss_customer_sk = c_customer_sk
    GROUP BY c_customer_sk
    HAVING sum(ss_quantity * ss_sales_price) > 0.5 * (SELECT * FROM max_store_sales))
SELECT sum(sales) AS sales FROM (
    SELECT cs_quantity * cs_list_price AS sales FROM catalog_sales, date_dim
    WHERE d_year = 2000 AND d_moy = 11 AND cs_sold_date_sk = d_date_sk
        AND cs_item_sk IN (SELECT item_sk FROM frequent_items)
        AND cs_bill_customer_sk IN (SELECT customer_sk FROM best_customers)
    UNION ALL
    SELECT ws_quantity * ws_list_price FROM web_sales, date_dim
    WHERE d_year = 2000 AND d_moy = 11 AND ws_sold_date_sk = d_date_sk
        AND ws_item_sk IN (SELECT item_sk FROM frequent_items)
        AND ws_bill_customer_sk IN (SELECT customer_sk FROM best_customers)) y
LIMIT 100
