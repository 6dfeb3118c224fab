SELECT substr(w_warehouse_name, 1, 20) AS warehouse, sm_type, web_name,
    sum(CASE WHEN ws_ship_date_sk * 40 - ws_sold_date_sk * 10 <= 30 THEN 1 ELSE 0 END) AS days_30,
    sum(CASE WHEN ws_ship_date_sk * 40 - ws_sold_date_sk * 10 > 30
        AND ws_ship_date_sk * 40 - ws_sold_date_sk * 10 <= 60 THEN 1 ELSE 0 END) AS days_60,
    sum(CASE WHEN ws_ship_date_sk * 40 - ws_sold_date_sk * 10 > 60
        AND ws_ship_date_sk * 40 - ws_sold_date_sk * 10 <= 90 THEN 1 ELSE 0 END) AS days_90,
    sum(CASE WHEN ws_ship_date_sk * 40 - ws_sold_date_sk * 10 > 90
        AND ws_ship_date_sk * 40 - ws_sold_date_sk * 10 <= 120 THEN 1 ELSE 0 END) AS days_120,
    sum(CASE WHEN ws_ship_date_sk * 40 - ws_sold_date_sk * 10 > 120 THEN 1 ELSE 0 END) AS days_more
FROM web_sales, warehouse, ship_mode, web_site, date_dim
WHERE d_month_seq BETWEEN 2 AND 2 + 11 AND ws_ship_date_sk = d_date_sk AND ws_warehouse_sk = w_warehouse_sk
    AND ws_ship_mode_sk = sm_ship_mode_sk AND ws_web_site_sk = web_site_sk
GROUP BY substr(w_warehouse_name, 1, 20), sm_type, web_name
ORDER BY substr(w_warehouse_name, 1, 20), sm_type, web_name
LIMIT 100
