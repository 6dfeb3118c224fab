SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, ship_carriers, year, sum(sales_11) AS sales_november,
    sum(sales_12) AS sales_december, sum(sales_11 / w_warehouse_sq_ft) AS november_per_foot,
        sum(net_11) AS net_november,
    sum(net_12) AS net_december
FROM (
    SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, concat('DHL', ',', 'BARIAN') AS ship_carriers,
        d_year AS year,
        sum(CASE WHEN d_moy = 11 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS sales_11,
        sum(CASE WHEN d_moy = 11 THEN ws_net_paid * ws_quantity ELSE 0 END) AS net_11,
        sum(CASE WHEN d_moy = 12 THEN ws_ext_sales_price * ws_quantity ELSE 0 END) AS sales_12,
        sum(CASE WHEN d_moy = 12 THEN ws_net_paid * ws_quantity ELSE 0 END) AS net_12
    FROM web_sales, warehouse, date_dim, time_dim, ship_mode
    WHERE ws_warehouse_sk = w_warehouse_sk AND ws_sold_date_sk = d_date_sk AND ws_sold_time_sk = t_time_sk
        AND ws_ship_mode_sk = sm_ship_mode_sk AND d_year = 2000 AND t_time BETWEEN 30 AND 30 + 340
        AND sm_carrier IN ('DHL', 'BARIAN')
    GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, d_year
    UNION ALL
    SELECT w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, concat('DHL', ',', 'BARIAN') AS ship_carriers,
        d_year AS year,
        sum(CASE WHEN d_moy = 11 THEN cs_sales_price * cs_quantity ELSE 0 END) AS sales_11,
        sum(CASE WHEN d_moy = 11 THEN cs_net_paid * cs_quantity ELSE 0 END) AS net_11,
        sum(CASE WHEN d_moy = 12 THEN cs_sales_price * cs_quantity ELSE 0 END) AS sales_12,
        sum(CASE WHEN d_moy = 12 THEN cs_net_paid * cs_quantity ELSE 0 END) AS net_12
    FROM catalog_sales, warehouse, date_dim, time_dim, ship_mode
    WHERE cs_warehouse_sk = w_warehouse_sk AND cs_sold_date_sk = d_date_sk AND cs_sold_time_sk = t_time_sk
        AND cs_ship_mode_sk = sm_ship_mode_sk AND d_year = 2000 AND t_time BETWEEN 30 AND 30 + 340
        AND sm_carrier IN ('DHL', 'BARIAN')
    GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, d_year) x
GROUP BY w_warehouse_name, w_warehouse_sq_ft, w_city, w_state, ship_carriers, year
ORDER BY w_warehouse_name
LIMIT 100
