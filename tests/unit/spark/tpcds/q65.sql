WITH sold AS (
    SELECT ss_store_sk AS store, ss_item_sk AS item, sum(ss_sales_price) AS revenue
    FROM store_sales, date_dim WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY ss_store_sk, ss_item_sk)
SELECT s_store_name, i_item_id, revenue, i_current_price, i_brand
FROM store, item, sold, (SELECT store AS s, avg(revenue) AS mean FROM sold GROUP BY store) means
WHERE s = store AND revenue <= 0.9 * mean AND s_store_sk = store AND i_item_sk = item
ORDER BY s_store_name, i_item_id
