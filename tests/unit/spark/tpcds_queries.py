# SPDX-License-Identifier: Apache-2.0
"""Queries with the meaning of TPC-DS queries, by number; their constants are those of the small tables."""

_BY_BRAND = """
    SELECT d_year, i_brand_id AS brand_id, i_brand AS brand, sum(ss_ext_sales_price) AS price
    FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk JOIN item ON ss_item_sk = i_item_sk
    WHERE {condition} GROUP BY d_year, i_brand, i_brand_id ORDER BY d_year, price DESC, brand_id"""

_BUYERS = """
    SELECT count(*) AS buyers FROM (
        SELECT DISTINCT c_last_name, c_first_name, d_date
        FROM store_sales, date_dim, customer
        WHERE ss_sold_date_sk = d_date_sk AND ss_customer_sk = c_customer_sk AND d_year = 2000
        {operator}
        SELECT DISTINCT c_last_name, c_first_name, d_date
        FROM catalog_sales, date_dim, customer
        WHERE cs_sold_date_sk = d_date_sk AND cs_bill_customer_sk = c_customer_sk AND d_year = 2000
        {operator}
        SELECT DISTINCT c_last_name, c_first_name, d_date
        FROM web_sales, date_dim, customer
        WHERE ws_sold_date_sk = d_date_sk AND ws_bill_customer_sk = c_customer_sk AND d_year = 2000)"""

QUERIES = {
    1: """
    WITH returns AS (
        SELECT sr_customer_sk AS customer, sr_store_sk AS store, sum(sr_return_amt) AS total
        FROM store_returns JOIN date_dim ON sr_returned_date_sk = d_date_sk
        WHERE d_year = 2000 GROUP BY sr_customer_sk, sr_store_sk)
    SELECT c_customer_id FROM returns r, store, customer
    WHERE r.total > (SELECT avg(total) * 1.2 FROM returns o WHERE o.store = r.store)
        AND s_store_sk = r.store AND s_state = 'TN' AND r.customer = c_customer_sk
    ORDER BY c_customer_id""",
    3: _BY_BRAND.format(condition="d_moy = 11"),
    7: """
    SELECT i_item_id, avg(ss_quantity) AS quantity, avg(ss_list_price) AS list, avg(ss_sales_price) AS sold
    FROM store_sales, customer_demographics, date_dim, item, promotion
    WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_cdemo_sk = cd_demo_sk
        AND ss_promo_sk = p_promo_sk AND cd_gender = 'M' AND d_year = 2000
        AND (p_channel_email = 'N' OR p_channel_event = 'N')
    GROUP BY i_item_id ORDER BY i_item_id""",
    36: """
    SELECT sum(ss_net_profit) / sum(ss_ext_sales_price) AS margin, i_category, i_class,
        grouping(i_category) + grouping(i_class) AS level,
        rank() OVER (
            PARTITION BY grouping(i_category) + grouping(i_class), CASE WHEN grouping(i_class) = 0 THEN i_category END
            ORDER BY sum(ss_net_profit) / sum(ss_ext_sales_price)) AS place
    FROM store_sales, date_dim, item, store
    WHERE d_year = 2000 AND d_date_sk = ss_sold_date_sk AND i_item_sk = ss_item_sk AND s_store_sk = ss_store_sk
        AND s_state = 'TN'
    GROUP BY ROLLUP (i_category, i_class)""",
    38: _BUYERS.format(operator="INTERSECT"),
    42: """
    SELECT d_year, i_category, sum(ss_ext_sales_price) AS price
    FROM date_dim, store_sales, item
    WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk = i_item_sk AND i_manager_id = 1 AND d_moy = 11 AND d_year = 2000
    GROUP BY d_year, i_category ORDER BY price DESC, d_year, i_category""",
    43: """
    SELECT s_store_name, sum(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END) AS sunday,
        sum(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END) AS monday
    FROM date_dim, store_sales, store
    WHERE d_date_sk = ss_sold_date_sk AND s_store_sk = ss_store_sk AND d_year = 2000
    GROUP BY s_store_name ORDER BY s_store_name""",
    52: _BY_BRAND.format(condition="i_manager_id = 1 AND d_moy = 11 AND d_year = 2000"),
    87: _BUYERS.format(operator="EXCEPT"),
    98: """
    SELECT i_item_id, i_class, i_current_price, sum(ss_ext_sales_price) AS revenue,
        sum(ss_ext_sales_price) * 100 / sum(sum(ss_ext_sales_price)) OVER (PARTITION BY i_class) AS ratio
    FROM store_sales, item, date_dim
    WHERE ss_item_sk = i_item_sk AND i_category IN ('Sports', 'Books') AND ss_sold_date_sk = d_date_sk
    GROUP BY i_item_id, i_class, i_current_price ORDER BY i_class, i_item_id, ratio""",
    44: """
    WITH means AS (
        SELECT ss_item_sk AS item, avg(ss_net_profit) AS mean FROM store_sales GROUP BY ss_item_sk
        HAVING avg(ss_net_profit) > 0.5 * (SELECT avg(ss_net_profit) FROM store_sales WHERE ss_store_sk < 4)),
    best AS (SELECT item, rank() OVER (ORDER BY mean DESC) AS place FROM means),
    worst AS (SELECT item, rank() OVER (ORDER BY mean) AS place FROM means)
    SELECT best.place, b.i_item_id AS best_item, w.i_item_id AS worst_item
    FROM best, worst, item b, item w
    WHERE best.place = worst.place AND b.i_item_sk = best.item AND w.i_item_sk = worst.item ORDER BY best.place""",
    65: """
    WITH sold AS (
        SELECT ss_store_sk AS store, ss_item_sk AS item, sum(ss_sales_price) AS revenue
        FROM store_sales, date_dim WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY ss_store_sk, ss_item_sk)
    SELECT s_store_name, i_item_id, revenue, i_current_price, i_brand
    FROM store, item, sold, (SELECT store AS s, avg(revenue) AS mean FROM sold GROUP BY store) means
    WHERE s = store AND revenue <= 0.9 * mean AND s_store_sk = store AND i_item_sk = item
    ORDER BY s_store_name, i_item_id""",
    67: """
    SELECT * FROM (
        SELECT i_category, i_class, s_store_name, total,
            rank() OVER (PARTITION BY i_category ORDER BY total DESC) AS place
        FROM (
            SELECT i_category, i_class, s_store_name, sum(coalesce(ss_sales_price * ss_quantity, 0)) AS total
            FROM store_sales, date_dim, store, item
            WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk AND d_year = 2000
            GROUP BY ROLLUP (i_category, i_class, s_store_name)))
    WHERE place <= 3 ORDER BY i_category, place""",
    69: """
    SELECT cd_gender, cd_education_status, count(*) AS customers
    FROM customer, customer_demographics
    WHERE cd_demo_sk = c_customer_sk
        AND EXISTS (SELECT * FROM store_sales, date_dim
            WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2000)
        AND NOT EXISTS (SELECT * FROM web_sales, date_dim
            WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk AND d_moy = 12)
    GROUP BY cd_gender, cd_education_status ORDER BY cd_gender""",
    89: """
    SELECT i_category, i_class, s_store_name, d_moy, sold, mean FROM (
        SELECT i_category, i_class, s_store_name, d_moy, sum(ss_sales_price) AS sold,
            avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, s_store_name) AS mean
        FROM item, store_sales, date_dim, store
        WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND d_year = 2000
        GROUP BY i_category, i_class, s_store_name, d_moy)
    WHERE CASE WHEN mean <> 0 THEN abs(sold - mean) / mean END > 0.1 ORDER BY sold - mean""",
    97: """
    WITH s AS (
        SELECT ss_customer_sk AS customer FROM store_sales, date_dim
        WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY ss_customer_sk),
    c AS (
        SELECT cs_bill_customer_sk AS customer FROM catalog_sales, date_dim
        WHERE cs_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY cs_bill_customer_sk)
    SELECT sum(CASE WHEN s.customer IS NOT NULL AND c.customer IS NULL THEN 1 ELSE 0 END) AS store_only,
        sum(CASE WHEN s.customer IS NOT NULL AND c.customer IS NOT NULL THEN 1 ELSE 0 END) AS both
    FROM s FULL OUTER JOIN c ON s.customer = c.customer""",
}
