WITH year_total AS (
    SELECT c_customer_id AS customer_id, c_first_name AS first_name, c_last_name AS last_name,
        c_preferred_cust_flag AS preferred, d_year AS year, sum(ss_ext_list_price - ss_ext_discount_amt) AS total,
            's' AS channel
    FROM customer, store_sales, date_dim
    WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk
    GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
    UNION ALL
    SELECT c_customer_id AS customer_id, c_first_name AS first_name, c_last_name AS last_name,
        c_preferred_cust_flag AS preferred, d_year AS year, sum(ws_ext_list_price - ws_ext_discount_amt) AS total,
            'w' AS channel
    FROM customer, web_sales, date_dim
    WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk
    GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year)
SELECT s2.customer_id, s2.first_name, s2.last_name, s2.preferred
FROM year_total s1, year_total s2, year_total w1, year_total w2
WHERE s2.customer_id = s1.customer_id AND s1.customer_id = w1.customer_id AND s1.customer_id = w2.customer_id
    AND s1.channel = 's' AND w1.channel = 'w' AND s2.channel = 's' AND w2.channel = 'w'
    AND s1.year = 2000 AND s2.year = 2001 AND w1.year = 2000 AND w2.year = 2001
    AND s1.total > 0 AND w1.total > 0
    AND CASE WHEN w1.total > 0 THEN w2.total / w1.total ELSE 0.0 END
        > 0.5 * CASE WHEN s1.total > 0 THEN s2.total / s1.total ELSE 0.0 END
ORDER BY s2.customer_id, s2.first_name, s2.last_name, s2.preferred
LIMIT 100
