WITH sales AS (
    SELECT ws_sold_date_sk AS sold, ws_ext_sales_price AS price FROM web_sales
    UNION ALL
    SELECT cs_sold_date_sk AS sold, cs_ext_sales_price AS price FROM catalog_sales),
weeks AS (
    SELECT d_week_seq,
        sum(CASE WHEN d_day_name = 'Sunday' THEN price END) AS sunday,
        sum(CASE WHEN d_day_name = 'Monday' THEN price END) AS monday,
        sum(CASE WHEN d_day_name = 'Friday' THEN price END) AS friday
    FROM sales, date_dim WHERE d_date_sk = sold GROUP BY d_week_seq)
SELECT y.week, round(y.sunday / z.sunday, 2) AS sunday, round(y.monday / z.monday, 2) AS monday,
    round(y.friday / z.friday, 2) AS friday
FROM (
    SELECT weeks.d_week_seq AS week, sunday, monday, friday FROM weeks, date_dim d
    WHERE d.d_week_seq = weeks.d_week_seq AND d.d_year = 2000) y,
(
    SELECT weeks.d_week_seq AS week, sunday, monday, friday FROM weeks, date_dim d
    WHERE d.d_week_seq = weeks.d_week_seq AND d.d_year = 2001) z
WHERE y.week = z.week - 1
ORDER BY y.week
