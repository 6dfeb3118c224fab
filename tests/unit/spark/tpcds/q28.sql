SELECT * FROM (
    SELECT avg(ss_list_price) AS b1_mean, count(ss_list_price) AS b1_count,
        count(DISTINCT ss_list_price) AS b1_distinct
    FROM store_sales
    WHERE ss_quantity BETWEEN 1 AND 130
        AND (ss_list_price BETWEEN 8 AND 8 + 150 OR ss_coupon_amt BETWEEN 100 AND 100 + 100
            OR ss_wholesale_cost BETWEEN 50 AND 50 + 100)) b1, (
    SELECT avg(ss_list_price) AS b2_mean, count(ss_list_price) AS b2_count,
        count(DISTINCT ss_list_price) AS b2_distinct
    FROM store_sales
    WHERE ss_quantity BETWEEN 131 AND 260
        AND (ss_list_price BETWEEN 90 AND 90 + 150 OR ss_coupon_amt BETWEEN 200 AND 200 + 100
            OR ss_wholesale_cost BETWEEN 30 AND 30 + 100)) b2, (
    SELECT avg(ss_list_price) AS b3_mean, count(ss_list_price) AS b3_count,
        count(DISTINCT ss_list_price) AS b3_distinct
    FROM store_sales
    WHERE ss_quantity BETWEEN 261 AND 400
        AND (ss_list_price BETWEEN 140 AND 140 + 150 OR ss_coupon_amt BETWEEN 60 AND 60 + 100
            OR ss_wholesale_cost BETWEEN 80 AND 80 + 100)) b3
LIMIT 100
