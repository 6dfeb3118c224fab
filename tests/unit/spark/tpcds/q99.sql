SELECT substr(w_warehouse_name, 1, 20) AS warehouse, sm_type, cc_name,
    sum(CASE WHEN cs_ship_date_sk * 40 - cs_sold_date_sk * 10 <= 30 THEN 1 ELSE 0 END) AS days_30,
    sum(CASE WHEN cs_ship_date_sk * 40 - cs_sold_date_sk * 10 > 30
        AND cs_ship_date_sk * 40 - cs_sold_date_sk * 10 <= 60 THEN 1 ELSE 0 END) AS days_60,
    sum(CASE WHEN cs_ship_date_sk * 40 - cs_sold_date_sk * 10 > 60
        AND cs_ship_date_sk * 40 - cs_sold_date_sk * 10 <= 90 THEN 1 ELSE 0 END) AS days_90,
    sum(CASE WHEN cs_ship_date_sk * 40 - cs_sold_date_sk * 10 > 90
        AND cs_ship_date_sk * 40 - cs_sold_date_sk * 10 <= 120 THEN 1 ELSE 0 END) AS days_120,
    sum(CASE WHEN cs_ship_date_sk * 40 - cs_sold_date_sk * 10 > 120 THEN 1 ELSE 0 END) AS days_more
FROM catalog_sales, warehouse, ship_mode, call_center, date_dim
WHERE d_month_seq BETWEEN 2 AND 2 + 11 AND cs_ship_date_sk = d_date_sk AND cs_warehouse_sk = w_warehouse_sk
    AND cs_ship_mode_sk = sm_ship_mode_sk AND cs_call_center_sk = cc_call_center_sk
GROUP BY substr(w_warehouse_name, 1, 20), sm_type, cc_name
ORDER BY substr(w_warehouse_name, 1, 20), sm_type, cc_name
LIMIT 100
