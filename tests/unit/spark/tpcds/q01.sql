WITH returns AS (
    SELECT sr_customer_sk AS customer, sr_store_sk AS store, sum(sr_return_amt) AS total
    FROM store_returns JOIN date_dim ON sr_returned_date_sk = d_date_sk
    WHERE d_year = 2000 GROUP BY sr_customer_sk, sr_store_sk)
SELECT c_customer_id FROM returns r, store, customer
WHERE r.total > (SELECT avg(total) * 1.2 FROM returns o WHERE o.store = r.store)
    AND s_store_sk = r.store AND s_state = 'TN' AND r.customer = c_customer_sk
ORDER BY c_customer_id
