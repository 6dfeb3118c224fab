SELECT count(DISTINCT s1.cs_order_number) AS orders, sum(s1.cs_ext_ship_cost) AS shipping,
    sum(s1.cs_net_profit) AS profit
FROM catalog_sales s1, date_dim, customer_address, call_center
WHERE d_date BETWEEN 20 AND 20 + 370 AND s1.cs_ship_date_sk = d_date_sk AND s1.cs_ship_addr_sk = ca_address_sk
    AND ca_state IN ('TN', 'GA') AND s1.cs_call_center_sk = cc_call_center_sk AND cc_county = 'Williamson'
    AND EXISTS (
        SELECT * FROM catalog_sales s2
        WHERE s1.cs_order_number = s2.cs_order_number AND s1.cs_warehouse_sk <> s2.cs_warehouse_sk)
    AND NOT EXISTS (SELECT * FROM catalog_returns WHERE s1.cs_order_number = cr_order_number
        AND cr_return_quantity > 250)
ORDER BY count(DISTINCT s1.cs_order_number)
LIMIT 100
