SELECT
    CASE
        WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 80) > 3
        THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 80)
        ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 1 AND 80)
    END AS bucket1,
    CASE
        WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 160) > 9
        THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 160)
        ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 81 AND 160)
    END AS bucket2,
    CASE
        WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 161 AND 240) > 2
        THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 161 AND 240)
        ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 161 AND 240)
    END AS bucket3,
    CASE
        WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 241 AND 320) > 9
        THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 241 AND 320)
        ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 241 AND 320)
    END AS bucket4,
    CASE
        WHEN (SELECT count(*) FROM store_sales WHERE ss_quantity BETWEEN 321 AND 400) > 1
        THEN (SELECT avg(ss_ext_discount_amt) FROM store_sales WHERE ss_quantity BETWEEN 321 AND 400)
        ELSE (SELECT avg(ss_net_paid) FROM store_sales WHERE ss_quantity BETWEEN 321 AND 400)
    END AS bucket5
FROM reason
WHERE r_reason_sk = 1
