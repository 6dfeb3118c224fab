SELECT * FROM (
    SELECT i_category, i_class, s_store_name, total,
        rank() OVER (PARTITION BY i_category ORDER BY total DESC) AS place
    FROM (
        SELECT i_category, i_class, s_store_name, sum(coalesce(ss_sales_price * ss_quantity, 0)) AS total
        FROM store_sales, date_dim, store, item
        WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk AND d_year = 2000
        GROUP BY ROLLUP (i_category, i_class, s_store_name)))
WHERE place <= 3 ORDER BY i_category, place
