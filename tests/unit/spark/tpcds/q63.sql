SELECT * FROM (
    SELECT i_manager_id, sum(ss_sales_price) AS sum_sales,
        avg(sum(ss_sales_price)) OVER (PARTITION BY i_manager_id) AS avg_sales
    FROM item, store_sales, date_dim, store
    WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk
        AND d_month_seq IN (1, 2, 3)
        AND (i_category IN ('Books', 'Music') AND i_class IN ('fiction', 'golf')
            OR i_category IN ('Sports', 'Books') AND i_class IN ('classical', 'golf'))
    GROUP BY i_manager_id, d_moy) x
WHERE CASE WHEN avg_sales > 0 THEN abs(sum_sales - avg_sales) / avg_sales ELSE NULL END > 0.01
ORDER BY avg_sales, sum_sales, i_manager_id
LIMIT 100
