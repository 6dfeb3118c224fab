SELECT substr(r_reason_desc, 1, 20) AS reason, avg(ws_quantity) AS quantity, avg(wr_refunded_cash) AS refunded,
    avg(wr_fee) AS fee
FROM web_sales, web_returns, web_page, customer_demographics cd1, customer_demographics cd2, customer_address, date_dim,
    reason
WHERE ws_web_page_sk = wp_web_page_sk AND ws_item_sk = wr_item_sk AND ws_order_number = wr_order_number
    AND ws_sold_date_sk = d_date_sk AND d_year = 2000 AND cd1.cd_demo_sk = wr_refunded_cdemo_sk
    AND cd2.cd_demo_sk = wr_returning_cdemo_sk AND ca_address_sk = wr_refunded_addr_sk AND r_reason_sk = wr_reason_sk
    AND (cd1.cd_marital_status = 'M' AND ws_sales_price BETWEEN 10 AND 390
        OR cd1.cd_marital_status = 'S' AND cd1.cd_education_status <> cd2.cd_education_status)
    AND (ca_country = 'United States' AND ca_state IN ('TN', 'OH') AND ws_net_profit BETWEEN 1 AND 390
        OR ca_country = 'United States' AND ca_state IN ('GA', 'TX') AND ws_net_profit BETWEEN 50 AND 300)
GROUP BY r_reason_desc
ORDER BY substr(r_reason_desc, 1, 20), quantity, refunded, fee
LIMIT 100
