SELECT i_item_id, s_state, grouping(s_state) AS g_state, avg(ss_quantity) AS quantity, avg(ss_list_price) AS list,
    avg(ss_coupon_amt) AS coupon, avg(ss_sales_price) AS sold
FROM store_sales, customer_demographics, date_dim, store, item
WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_store_sk = s_store_sk AND ss_cdemo_sk = cd_demo_sk
    AND cd_gender = 'M' AND cd_marital_status = 'S' AND d_year = 2000 AND s_state IN ('TN', 'GA')
GROUP BY ROLLUP (i_item_id, s_state)
ORDER BY i_item_id, s_state
LIMIT 100
