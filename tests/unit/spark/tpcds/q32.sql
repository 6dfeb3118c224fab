SELECT sum(cs_ext_discount_amt) AS excess_discount
FROM catalog_sales, item, date_dim
WHERE i_manufact_id > 60 AND i_item_sk = cs_item_sk AND d_date BETWEEN 20 AND 380 AND d_date_sk = cs_sold_date_sk
    AND cs_ext_discount_amt > (
        SELECT 0.9 * avg(cs_ext_discount_amt) FROM catalog_sales, date_dim
        WHERE cs_item_sk = i_item_sk AND d_date BETWEEN 20 AND 380 AND d_date_sk = cs_sold_date_sk)
LIMIT 100
