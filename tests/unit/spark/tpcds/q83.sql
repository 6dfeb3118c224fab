WITH sr_items AS (
    SELECT i_item_id AS item_id, sum(sr_return_quantity) AS qty FROM store_returns, item, date_dim
    WHERE sr_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date > 60))
        AND sr_returned_date_sk = d_date_sk
    GROUP BY i_item_id),
cr_items AS (
    SELECT i_item_id AS item_id, sum(cr_return_quantity) AS qty FROM catalog_returns, item, date_dim
    WHERE cr_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date > 60))
        AND cr_returned_date_sk = d_date_sk
    GROUP BY i_item_id),
wr_items AS (
    SELECT i_item_id AS item_id, sum(wr_return_quantity) AS qty FROM web_returns, item, date_dim
    WHERE wr_item_sk = i_item_sk AND d_date IN (
            SELECT d_date FROM date_dim
            WHERE d_week_seq IN (SELECT d_week_seq FROM date_dim WHERE d_date > 60))
        AND wr_returned_date_sk = d_date_sk
    GROUP BY i_item_id)
SELECT sr_items.item_id, sr_items.qty AS store_qty, sr_items.qty / (sr_items.qty + cr_items.qty + wr_items.qty)
    / 3.0 * 100
    AS store_share, cr_items.qty AS catalog_qty, wr_items.qty AS web_qty,
    (sr_items.qty + cr_items.qty + wr_items.qty) / 3.0 AS average
FROM sr_items, cr_items, wr_items
WHERE sr_items.item_id = cr_items.item_id AND sr_items.item_id = wr_items.item_id
ORDER BY sr_items.item_id, store_qty
LIMIT 100
