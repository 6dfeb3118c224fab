SELECT avg(ss_quantity) AS quantity, avg(ss_ext_sales_price) AS price, avg(ss_ext_wholesale_cost) AS mean_cost,
    sum(ss_ext_wholesale_cost) AS cost
FROM store_sales, store, customer_demographics, household_demographics, customer_address, date_dim
WHERE s_store_sk = ss_store_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2000
    AND (ss_hdemo_sk = hd_demo_sk AND cd_demo_sk = ss_cdemo_sk AND cd_marital_status = 'M'
            AND cd_education_status = 'classical' AND ss_sales_price BETWEEN 50 AND 350 AND hd_dep_count = 3
        OR ss_hdemo_sk = hd_demo_sk AND cd_demo_sk = ss_cdemo_sk AND cd_marital_status = 'S'
            AND ss_sales_price BETWEEN 1 AND 300 AND hd_dep_count = 1)
    AND (ss_addr_sk = ca_address_sk AND ca_country = 'United States' AND ca_state IN ('TN', 'OH')
            AND ss_net_profit BETWEEN 10 AND 300
        OR ss_addr_sk = ca_address_sk AND ca_country = 'United States' AND ca_state IN ('GA', 'TX')
            AND ss_net_profit BETWEEN 5 AND 390)
