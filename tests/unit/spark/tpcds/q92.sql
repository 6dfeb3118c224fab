SELECT sum(ws_ext_discount_amt) AS excess_discount
FROM web_sales, item, date_dim
WHERE i_manufact_id > 60 AND i_item_sk = ws_item_sk AND d_date BETWEEN 20 AND 380 AND d_date_sk = ws_sold_date_sk
    AND ws_ext_discount_amt > (
        SELECT 0.9 * avg(ws_ext_discount_amt) FROM web_sales, date_dim
        WHERE ws_item_sk = i_item_sk AND d_date BETWEEN 20 AND 380 AND d_date_sk = ws_sold_date_sk)
LIMIT 100
