SELECT cd_gender, cd_education_status, count(*) AS customers
FROM customer, customer_demographics
WHERE cd_demo_sk = c_customer_sk
    AND EXISTS (SELECT * FROM store_sales, date_dim
        WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk AND d_year = 2000)
    AND NOT EXISTS (SELECT * FROM web_sales, date_dim
        WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk AND d_moy = 12)
GROUP BY cd_gender, cd_education_status ORDER BY cd_gender
