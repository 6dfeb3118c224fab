SELECT s_store_name, s_company_id, s_county, s_zip,
    sum(CASE WHEN sr_returned_date_sk * 40 - ss_sold_date_sk * 10 <= 30 THEN 1 ELSE 0 END) AS days_30,
    sum(CASE WHEN sr_returned_date_sk * 40 - ss_sold_date_sk * 10 > 30
        AND sr_returned_date_sk * 40 - ss_sold_date_sk * 10 <= 60 THEN 1 ELSE 0 END) AS days_60,
    sum(CASE WHEN sr_returned_date_sk * 40 - ss_sold_date_sk * 10 > 60
        AND sr_returned_date_sk * 40 - ss_sold_date_sk * 10 <= 90 THEN 1 ELSE 0 END) AS days_90,
    sum(CASE WHEN sr_returned_date_sk * 40 - ss_sold_date_sk * 10 > 90
        AND sr_returned_date_sk * 40 - ss_sold_date_sk * 10 <= 120 THEN 1 ELSE 0 END) AS days_120,
    sum(CASE WHEN sr_returned_date_sk * 40 - ss_sold_date_sk * 10 > 120 THEN 1 ELSE 0 END) AS days_more
FROM store_sales, store_returns, store, date_dim d1, date_dim d2
WHERE d2.d_year = 2000 AND d2.d_moy >= 11 AND ss_ticket_number = sr_ticket_number AND ss_item_sk = sr_item_sk
    AND ss_sold_date_sk = d1.d_date_sk AND sr_returned_date_sk = d2.d_date_sk AND ss_store_sk = s_store_sk
GROUP BY s_store_name, s_company_id, s_county, s_zip
ORDER BY s_store_name, s_company_id, s_county, s_zip
LIMIT 100
