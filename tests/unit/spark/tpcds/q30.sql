WITH customer_total_return AS (
    SELECT wr_returning_customer_sk AS customer, ca_state AS state, sum(wr_return_amt) AS total
    FROM web_returns, date_dim, customer_address
    WHERE wr_returned_date_sk = d_date_sk AND d_year = 2000 AND wr_returning_addr_sk = ca_address_sk
    GROUP BY wr_returning_customer_sk, ca_state)
SELECT c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_month, c_birth_year, total
FROM customer_total_return r1, customer_address, customer
WHERE r1.total > (SELECT avg(total) * 0.9 FROM customer_total_return r2 WHERE r1.state = r2.state)
    AND ca_address_sk = c_current_addr_sk AND ca_state IN ('TN', 'GA') AND r1.customer = c_customer_sk
ORDER BY c_customer_id, c_salutation, c_first_name, c_last_name, c_preferred_cust_flag, c_birth_month, c_birth_year,
    total
LIMIT 100
