WITH moved AS (
    SELECT s1.ws_order_number, s1.ws_warehouse_sk AS warehouse1, s2.ws_warehouse_sk AS warehouse2
    FROM web_sales s1, web_sales s2
    WHERE s1.ws_order_number = s2.ws_order_number AND s1.ws_warehouse_sk <> s2.ws_warehouse_sk)
SELECT count(DISTINCT s1.ws_order_number) AS orders, sum(s1.ws_ext_ship_cost) AS shipping,
    sum(s1.ws_net_profit) AS profit
FROM web_sales s1, date_dim, customer_address, web_site
WHERE d_date BETWEEN 20 AND 20 + 370 AND s1.ws_ship_date_sk = d_date_sk AND s1.ws_ship_addr_sk = ca_address_sk
    AND ca_state IN ('TN', 'GA') AND s1.ws_web_site_sk = web_site_sk AND web_company_name = 'pri'
    AND s1.ws_order_number IN (SELECT ws_order_number FROM moved)
    AND s1.ws_order_number IN (
        SELECT wr_order_number FROM web_returns, moved WHERE wr_order_number = moved.ws_order_number)
ORDER BY count(DISTINCT s1.ws_order_number)
LIMIT 100
