SELECT ca_zip, sum(cs_sales_price) AS price
FROM catalog_sales, customer, customer_address, date_dim
WHERE cs_bill_customer_sk = c_customer_sk AND c_current_addr_sk = ca_address_sk
    AND (substr(ca_zip, 1, 5) IN ('24128', '57834') OR ca_state IN ('TN', 'OH') OR cs_sales_price > 300)
    AND cs_sold_date_sk = d_date_sk AND d_qoy = 2 AND d_year = 2000
GROUP BY ca_zip
ORDER BY ca_zip
LIMIT 100
