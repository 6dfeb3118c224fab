WITH s AS (
    SELECT ss_customer_sk AS customer FROM store_sales, date_dim
    WHERE ss_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY ss_customer_sk),
c AS (
    SELECT cs_bill_customer_sk AS customer FROM catalog_sales, date_dim
    WHERE cs_sold_date_sk = d_date_sk AND d_year = 2000 GROUP BY cs_bill_customer_sk)
SELECT sum(CASE WHEN s.customer IS NOT NULL AND c.customer IS NULL THEN 1 ELSE 0 END) AS store_only,
    sum(CASE WHEN s.customer IS NOT NULL AND c.customer IS NOT NULL THEN 1 ELSE 0 END) AS both
FROM s FULL OUTER JOIN c ON s.customer = c.customer
