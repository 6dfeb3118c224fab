SELECT i_category, i_class, s_store_name, d_moy, sold, mean FROM (
    SELECT i_category, i_class, s_store_name, d_moy, sum(ss_sales_price) AS sold,
        avg(sum(ss_sales_price)) OVER (PARTITION BY i_category, s_store_name) AS mean
    FROM item, store_sales, date_dim, store
    WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND d_year = 2000
    GROUP BY i_category, i_class, s_store_name, d_moy)
WHERE CASE WHEN mean <> 0 THEN abs(sold - mean) / mean END > 0.1 ORDER BY sold - mean
