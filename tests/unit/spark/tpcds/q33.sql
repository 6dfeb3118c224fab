WITH ss AS (
    SELECT i_manufact_id, sum(ss_ext_sales_price) AS total FROM store_sales, date_dim, customer_address, item
    WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Books')) AND ss_item_sk = i_item_sk
        AND ss_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy = 11 AND ss_addr_sk = ca_address_sk
            AND ca_gmt_offset = -5
    GROUP BY i_manufact_id),
cs AS (
    SELECT i_manufact_id, sum(cs_ext_sales_price) AS total FROM catalog_sales, date_dim, customer_address, item
    WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Books')) AND cs_item_sk = i_item_sk
        AND cs_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy = 11 AND cs_bill_addr_sk = ca_address_sk
            AND ca_gmt_offset = -5
    GROUP BY i_manufact_id),
ws AS (
    SELECT i_manufact_id, sum(ws_ext_sales_price) AS total FROM web_sales, date_dim, customer_address, item
    WHERE i_manufact_id IN (SELECT i_manufact_id FROM item WHERE i_category IN ('Books')) AND ws_item_sk = i_item_sk
        AND ws_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy = 11 AND ws_bill_addr_sk = ca_address_sk
            AND ca_gmt_offset = -5
    GROUP BY i_manufact_id)
SELECT i_manufact_id, sum(total) AS total
FROM (SELECT * FROM ss UNION ALL SELECT * FROM cs UNION ALL SELECT * FROM ws) x
GROUP BY i_manufact_id
ORDER BY total
LIMIT 100
