WITH ss_items AS (
    SELECT i_item_id AS item_id, sum(ss_ext_sales_price) AS revenue FROM store_sales, item, date_dim
    WHERE ss_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_year = 2000))
        AND ss_sold_date_sk = d_date_sk
    GROUP BY i_item_id),
cs_items AS (
    SELECT i_item_id AS item_id, sum(cs_ext_sales_price) AS revenue FROM catalog_sales, item, date_dim
    WHERE cs_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_year = 2000))
        AND cs_sold_date_sk = d_date_sk
    GROUP BY i_item_id),
ws_items AS (
    SELECT i_item_id AS item_id, sum(ws_ext_sales_price) AS revenue FROM web_sales, item, date_dim
    WHERE ws_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_year = 2000))
        AND ws_sold_date_sk = d_date_sk
    GROUP BY i_item_id)
SELECT ss_items.item_id, ss_items.revenue AS store_revenue,
    ss_items.revenue / ((ss_items.revenue + cs_items.revenue + ws_items.revenue) / 3) * 100 AS store_share,
    cs_items.revenue AS catalog_revenue, ws_items.revenue AS web_revenue,
    (ss_items.revenue + cs_items.revenue + ws_items.revenue) / 3 AS average
FROM ss_items, cs_items, ws_items
WHERE ss_items.item_id = cs_items.item_id AND ss_items.item_id = ws_items.item_id
    AND ss_items.revenue BETWEEN 0.1 * cs_items.revenue AND 9 * cs_items.revenue
    AND ss_items.revenue BETWEEN 0.1 * ws_items.revenue AND 9 * ws_items.revenue
ORDER BY ss_items.item_id, store_revenue
LIMIT 100
