WITH store_channel AS (
    SELECT s_store_id, sum(sales_price) AS sales, sum(profit) AS profit, sum(return_amt) AS returns,
        sum(net_loss) AS loss
    FROM (
        SELECT ss_store_sk AS store_sk, ss_sold_date_sk AS date_sk, ss_ext_sales_price AS sales_price,
            ss_net_profit AS profit, 0 AS return_amt, 0 AS net_loss
        FROM store_sales
        UNION ALL
        SELECT sr_store_sk, sr_returned_date_sk, 0, 0, sr_return_amt, sr_net_loss FROM store_returns) moved,
        date_dim, store
    WHERE date_sk = d_date_sk AND d_date BETWEEN 50 AND 390 AND store_sk = s_store_sk GROUP BY s_store_id),
catalog_channel AS (
    SELECT cp_catalog_page_id, sum(sales_price) AS sales, sum(profit) AS profit, sum(return_amt) AS returns,
        sum(net_loss) AS loss
    FROM (
        SELECT cs_catalog_page_sk AS page_sk, cs_sold_date_sk AS date_sk, cs_ext_sales_price AS sales_price,
            cs_net_profit AS profit, 0 AS return_amt, 0 AS net_loss
        FROM catalog_sales
        UNION ALL
        SELECT cr_catalog_page_sk, cr_returned_date_sk, 0, 0, cr_return_amount, cr_net_loss FROM catalog_returns) moved,
        date_dim, catalog_page
    WHERE date_sk = d_date_sk AND d_date BETWEEN 50 AND 390 AND page_sk = cp_catalog_page_sk
    GROUP BY cp_catalog_page_id),
web_channel AS (
    SELECT web_site_id, sum(sales_price) AS sales, sum(profit) AS profit, sum(return_amt) AS returns,
        sum(net_loss) AS loss
    FROM (
        SELECT ws_web_site_sk AS site_sk, ws_sold_date_sk AS date_sk, ws_ext_sales_price AS sales_price,
            ws_net_profit AS profit, 0 AS return_amt, 0 AS net_loss
        FROM web_sales
        UNION ALL
        SELECT ws_web_site_sk, wr_returned_date_sk, 0, 0, wr_return_amt, wr_net_loss
        FROM web_returns LEFT OUTER JOIN web_sales ON wr_item_sk = ws_item_sk
            AND wr_order_number = ws_order_number) moved,
        date_dim, web_site
    WHERE date_sk = d_date_sk AND d_date BETWEEN 50 AND 390 AND site_sk = web_site_sk GROUP BY web_site_id)
SELECT channel, id, sum(sales) AS sales, sum(returns) AS returns, sum(profit) AS profit
FROM (
    SELECT 'store channel' AS channel, concat('store', s_store_id) AS id, sales, returns, profit - loss AS profit
    FROM store_channel
    UNION ALL
    SELECT 'catalog channel', concat('catalog_page', cp_catalog_page_id), sales, returns, profit - loss
    FROM catalog_channel
    UNION ALL
    SELECT 'web channel', concat('web_site', web_site_id), sales, returns, profit - loss FROM web_channel) x
GROUP BY ROLLUP (channel, id)
ORDER BY channel, id
LIMIT 100
