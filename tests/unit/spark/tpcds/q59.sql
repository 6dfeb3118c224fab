WITH wss AS (
    SELECT d_week_seq, ss_store_sk,
        sum(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END) AS sunday,
        sum(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END) AS monday,
        sum(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price END) AS friday
    FROM store_sales, date_dim WHERE d_date_sk = ss_sold_date_sk GROUP BY d_week_seq, ss_store_sk)
SELECT y.name, y.id, y.week, y.sunday / x.sunday AS sunday, y.monday / x.monday AS monday, y.friday / x.friday AS friday
FROM (
    SELECT s_store_name AS name, wss.d_week_seq AS week, s_store_id AS id, sunday, monday, friday
    FROM wss, store, date_dim d
    WHERE d.d_week_seq = wss.d_week_seq AND ss_store_sk = s_store_sk AND d_month_seq BETWEEN 1 AND 1 + 11) y,
(
    SELECT s_store_name AS name, wss.d_week_seq AS week, s_store_id AS id, sunday, monday, friday
    FROM wss, store, date_dim d
    WHERE d.d_week_seq = wss.d_week_seq AND ss_store_sk = s_store_sk AND d_month_seq BETWEEN 2 AND 2 + 11) x
WHERE y.id = x.id AND y.week = x.week - 1
ORDER BY y.name, y.id, y.week
LIMIT 100
