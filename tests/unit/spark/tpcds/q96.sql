SELECT count(*) AS cnt
FROM store_sales, household_demographics, time_dim, store
WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND ss_store_sk = s_store_sk AND t_hour = 8
    AND t_minute >= 30 AND hd_dep_count = 3 AND s_store_name IN ('able', 'bar', 'cally')
ORDER BY count(*)
LIMIT 100
