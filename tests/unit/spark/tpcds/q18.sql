SELECT i_item_id, ca_country, ca_state, ca_county, avg(CAST(cs_quantity AS DECIMAL(12, 2))) AS quantity,
    avg(CAST(cs_list_price AS DECIMAL(12, 2))) AS list_price, avg(CAST(cs_coupon_amt AS DECIMAL(12, 2))) AS coupon,
    avg(CAST(cs_sales_price AS DECIMAL(12, 2))) AS price, avg(CAST(cs_net_profit AS DECIMAL(12, 2))) AS profit,
    avg(CAST(c_birth_year AS DECIMAL(12, 2))) AS birth_year, avg(CAST(cd1.cd_dep_count AS DECIMAL(12, 2))) AS dependants
FROM catalog_sales, customer_demographics cd1, customer_demographics cd2, customer, customer_address, date_dim, item
WHERE cs_sold_date_sk = d_date_sk AND cs_item_sk = i_item_sk AND cs_bill_cdemo_sk = cd1.cd_demo_sk
    AND cs_bill_customer_sk = c_customer_sk AND cd1.cd_gender = 'M' AND c_current_cdemo_sk = cd2.cd_demo_sk
    AND c_current_addr_sk = ca_address_sk AND c_birth_month IN (1, 2, 6) AND d_year = 2000 AND ca_state IN ('TN', 'GA')
GROUP BY ROLLUP (i_item_id, ca_country, ca_state, ca_county)
ORDER BY ca_country, ca_state, ca_county, i_item_id
LIMIT 100
