SELECT i_item_id, avg(ss_quantity) AS quantity, avg(ss_list_price) AS list, avg(ss_sales_price) AS sold
FROM store_sales, customer_demographics, date_dim, item, promotion
WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_cdemo_sk = cd_demo_sk
    AND ss_promo_sk = p_promo_sk AND cd_gender = 'M' AND d_year = 2000
    AND (p_channel_email = 'N' OR p_channel_event = 'N')
GROUP BY i_item_id ORDER BY i_item_id
