SELECT channel, item, return_ratio, return_rank, currency_rank FROM (
SELECT 'web' AS channel, item, return_ratio, return_rank, currency_rank FROM (
    SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM (
        SELECT ws.ws_item_sk AS item,
            CAST(sum(coalesce(r.wr_return_quantity, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(ws.ws_quantity,
                0)) AS DECIMAL(15, 4))
                AS return_ratio,
            CAST(sum(coalesce(r.wr_return_amt, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(ws.ws_net_paid,
                0)) AS DECIMAL(15, 4))
                AS currency_ratio
        FROM web_sales ws LEFT OUTER JOIN web_returns r
            ON ws.ws_order_number = r.wr_order_number AND ws.ws_item_sk = r.wr_item_sk, date_dim
        WHERE r.wr_return_amt > 20 AND ws.ws_net_profit > 1 AND ws.ws_net_paid > 0 AND ws.ws_quantity > 0
            AND ws.ws_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy >= 11
        GROUP BY ws.ws_item_sk) web_ratios) web_ranks
WHERE return_rank <= 2 OR currency_rank <= 2
UNION
SELECT 'catalog' AS channel, item, return_ratio, return_rank, currency_rank FROM (
    SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM (
        SELECT cs.cs_item_sk AS item,
            CAST(sum(coalesce(r.cr_return_quantity, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(cs.cs_quantity,
                0)) AS DECIMAL(15, 4))
                AS return_ratio,
            CAST(sum(coalesce(r.cr_return_amount, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(cs.cs_net_paid,
                0)) AS DECIMAL(15, 4))
                AS currency_ratio
        FROM catalog_sales cs LEFT OUTER JOIN catalog_returns r
            ON cs.cs_order_number = r.cr_order_number AND cs.cs_item_sk = r.cr_item_sk, date_dim
        WHERE r.cr_return_amount > 20 AND cs.cs_net_profit > 1 AND cs.cs_net_paid > 0 AND cs.cs_quantity > 0
            AND cs.cs_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy >= 11
        GROUP BY cs.cs_item_sk) catalog_ratios) catalog_ranks
WHERE return_rank <= 2 OR currency_rank <= 2
UNION
SELECT 'store' AS channel, item, return_ratio, return_rank, currency_rank FROM (
    SELECT item, return_ratio, currency_ratio, rank() OVER (ORDER BY return_ratio) AS return_rank,
        rank() OVER (ORDER BY currency_ratio) AS currency_rank
    FROM (
        SELECT ss.ss_item_sk AS item,
            CAST(sum(coalesce(r.sr_return_quantity, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(ss.ss_quantity,
                0)) AS DECIMAL(15, 4))
                AS return_ratio,
            CAST(sum(coalesce(r.sr_return_amt, 0)) AS DECIMAL(15, 4)) / CAST(sum(coalesce(ss.ss_net_paid,
                0)) AS DECIMAL(15, 4))
                AS currency_ratio
        FROM store_sales ss LEFT OUTER JOIN store_returns r
            ON ss.ss_ticket_number = r.sr_ticket_number AND ss.ss_item_sk = r.sr_item_sk, date_dim
        WHERE r.sr_return_amt > 20 AND ss.ss_net_profit > 1 AND ss.ss_net_paid > 0 AND ss.ss_quantity > 0
            AND ss.ss_sold_date_sk = d_date_sk AND d_year = 2000 AND d_moy >= 11
        GROUP BY ss.ss_item_sk) store_ratios) store_ranks
WHERE return_rank <= 2 OR currency_rank <= 2) x
ORDER BY channel, return_rank, currency_rank, item
LIMIT 100
