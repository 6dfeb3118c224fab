SELECT * FROM (
    SELECT count(*) AS h8_30 FROM store_sales, household_demographics, time_dim, store
    WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND ss_store_sk = s_store_sk AND t_hour = 8
        AND t_minute >= 30
        AND (hd_dep_count = 3 AND hd_vehicle_count <= 3 + 2 OR hd_dep_count = 1 AND hd_vehicle_count <= 1 + 2)
        AND s_store_name IN ('able', 'bar', 'cally')) s_h8_30, (
    SELECT count(*) AS h9 FROM store_sales, household_demographics, time_dim, store
    WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND ss_store_sk = s_store_sk AND t_hour = 9
        AND t_minute < 30
        AND (hd_dep_count = 3 AND hd_vehicle_count <= 3 + 2 OR hd_dep_count = 1 AND hd_vehicle_count <= 1 + 2)
        AND s_store_name IN ('able', 'bar', 'cally')) s_h9, (
    SELECT count(*) AS h9_30 FROM store_sales, household_demographics, time_dim, store
    WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND ss_store_sk = s_store_sk AND t_hour = 9
        AND t_minute >= 30
        AND (hd_dep_count = 3 AND hd_vehicle_count <= 3 + 2 OR hd_dep_count = 1 AND hd_vehicle_count <= 1 + 2)
        AND s_store_name IN ('able', 'bar', 'cally')) s_h9_30
