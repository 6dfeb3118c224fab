SELECT c_last_name, c_first_name, substr(s_city, 1, 30) AS city, ss_ticket_number, amt, profit
FROM (
    SELECT ss_ticket_number, ss_customer_sk, store.s_city, sum(ss_coupon_amt) AS amt, sum(ss_net_profit) AS profit
    FROM store_sales, date_dim, store, household_demographics
    WHERE ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND ss_hdemo_sk = hd_demo_sk
        AND (hd_dep_count = 3 OR hd_vehicle_count > 2) AND d_dow = 1 AND d_year IN (2000, 2001)
        AND s_number_employees BETWEEN 100 AND 395
    GROUP BY ss_ticket_number, ss_customer_sk, ss_addr_sk, store.s_city) ms, customer
WHERE ss_customer_sk = c_customer_sk
ORDER BY c_last_name, c_first_name, substr(s_city, 1, 30), profit
LIMIT 100
