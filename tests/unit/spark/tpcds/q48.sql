SELECT sum(ss_quantity) AS quantity
FROM store_sales, store, customer_demographics, customer_address, date_dim
WHERE s_store_sk = ss_store_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2000
    AND (cd_demo_sk = ss_cdemo_sk AND cd_marital_status = 'M' AND cd_education_status = 'classical'
            AND ss_sales_price BETWEEN 10 AND 350
        OR cd_demo_sk = ss_cdemo_sk AND cd_marital_status = 'S' AND ss_sales_price BETWEEN 50 AND 300)
    AND (ss_addr_sk = ca_address_sk AND ca_country = 'United States' AND ca_state IN ('TN', 'OH')
            AND ss_net_profit BETWEEN 0 AND 300
        OR ss_addr_sk = ca_address_sk AND ca_country = 'United States' AND ca_state IN ('GA', 'TX')
            AND ss_net_profit BETWEEN 15 AND 350)
