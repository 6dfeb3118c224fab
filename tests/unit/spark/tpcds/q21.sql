SELECT * FROM (
    SELECT w_warehouse_name, i_item_id,
        sum(CASE WHEN d_date < 200 THEN inv_quantity_on_hand ELSE 0 END) AS before,
        sum(CASE WHEN d_date >= 200 THEN inv_quantity_on_hand ELSE 0 END) AS after
    FROM inventory, warehouse, item, date_dim
    WHERE i_current_price BETWEEN 20 AND 380 AND i_item_sk = inv_item_sk AND inv_warehouse_sk = w_warehouse_sk
        AND inv_date_sk = d_date_sk AND d_date BETWEEN 200 - 190 AND 200 + 190
    GROUP BY w_warehouse_name, i_item_id) x
WHERE CASE WHEN before > 0 THEN after / before ELSE NULL END BETWEEN 0.1 AND 9.0
ORDER BY w_warehouse_name, i_item_id
LIMIT 100
