SELECT i_item_id, i_item_desc, i_current_price
FROM item, inventory, date_dim, store_sales
WHERE i_current_price BETWEEN 20 AND 20 + 350 AND inv_item_sk = i_item_sk AND d_date_sk = inv_date_sk
    AND d_date BETWEEN 40 AND 40 + 340 AND i_manufact_id > 30 AND inv_quantity_on_hand BETWEEN 50 AND 350
    AND ss_item_sk = i_item_sk
GROUP BY i_item_id, i_item_desc, i_current_price
ORDER BY i_item_id
LIMIT 100
