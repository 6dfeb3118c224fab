SELECT i_item_id, i_class, i_current_price, sum(ss_ext_sales_price) AS revenue,
    sum(ss_ext_sales_price) * 100 / sum(sum(ss_ext_sales_price)) OVER (PARTITION BY i_class) AS ratio
FROM store_sales, item, date_dim
WHERE ss_item_sk = i_item_sk AND i_category IN ('Sports', 'Books') AND ss_sold_date_sk = d_date_sk
GROUP BY i_item_id, i_class, i_current_price ORDER BY i_class, i_item_id, ratio
