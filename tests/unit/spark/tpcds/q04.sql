WITH year_total AS (
    SELECT c_customer_id AS customer_id, c_first_name AS first_name, c_last_name AS last_name,
        c_preferred_cust_flag AS preferred, d_year AS year,
            sum((ss_ext_list_price - ss_ext_wholesale_cost - ss_ext_discount_amt + ss_ext_sales_price) / 2) AS total,
            's' AS channel
    FROM customer, store_sales, date_dim
    WHERE c_customer_sk = ss_customer_sk AND ss_sold_date_sk = d_date_sk
    GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
    UNION ALL
    SELECT c_customer_id AS customer_id, c_first_name AS first_name, c_last_name AS last_name,
        c_preferred_cust_flag AS preferred, d_year AS year,
            sum((cs_ext_list_price - cs_ext_wholesale_cost - cs_ext_discount_amt + cs_ext_sales_price) / 2) AS total,
            'c' AS channel
    FROM customer, catalog_sales, date_dim
    WHERE c_customer_sk = cs_bill_customer_sk AND cs_sold_date_sk = d_date_sk
    GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year
    UNION ALL
    SELECT c_customer_id AS customer_id, c_first_name AS first_name, c_last_name AS last_name,
        c_preferred_cust_flag AS preferred, d_year AS year,
            sum((ws_ext_list_price - ws_ext_wholesale_cost - ws_ext_discount_amt + ws_ext_sales_price) / 2) AS total,
            'w' AS channel
    FROM customer, web_sales, date_dim
    WHERE c_customer_sk = ws_bill_customer_sk AND ws_sold_date_sk = d_date_sk
    GROUP BY c_customer_id, c_first_name, c_last_name, c_preferred_cust_flag, d_year)
SELECT s2.customer_id, s2.first_name, s2.last_name, s2.preferred
FROM year_total s1, year_total s2, year_total c1, year_total c2, year_total w1, year_total w2
WHERE s2.customer_id = s1.customer_id AND s1.customer_id = c2.customer_id AND s1.customer_id = c1.customer_id
    AND s1.customer_id = w1.customer_id AND s1.customer_id = w2.customer_id
    AND s1.channel = 's' AND c1.channel = 'c' AND w1.channel = 'w'
    AND s2.channel = 's' AND c2.channel = 'c' AND w2.channel = 'w'
    AND s1.year = 2000 AND s2.year = 2001 AND c1.year = 2000 AND c2.year = 2001 AND w1.year = 2000 AND w2.year = 2001
    AND s1.total > 0 AND c1.total > 0 AND w1.total > 0
    AND CASE WHEN c1.total > 0 THEN c2.total / c1.total END > 0.5 * CASE WHEN s1.total > 0 THEN s2.total / s1.total END
    AND CASE WHEN c1.total > 0 THEN c2.total / c1.total END > 0.5 * CASE WHEN w1.total > 0 THEN w2.total / w1.total END
ORDER BY s2.customer_id, s2.first_name, s2.last_name, s2.preferred
LIMIT 100
