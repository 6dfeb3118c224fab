WITH means AS (
    SELECT ss_item_sk AS item, avg(ss_net_profit) AS mean FROM store_sales GROUP BY ss_item_sk
    HAVING avg(ss_net_profit) > 0.5 * (SELECT avg(ss_net_profit) FROM store_sales WHERE ss_store_sk < 4)),
best AS (SELECT item, rank() OVER (ORDER BY mean DESC) AS place FROM means),
worst AS (SELECT item, rank() OVER (ORDER BY mean) AS place FROM means)
SELECT best.place, b.i_item_id AS best_item, w.i_item_id AS worst_item
FROM best, worst, item b, item w
WHERE best.place = worst.place AND b.i_item_sk = best.item AND w.i_item_sk = worst.item ORDER BY best.place
