WITH ws AS (
    SELECT d_year AS sold_year, ws_item_sk AS item_sk, ws_bill_customer_sk AS customer_sk, sum(ws_quantity) AS qty,
        sum(ws_wholesale_cost) AS wc, sum(ws_sales_price) AS sp
    FROM web_sales LEFT JOIN web_returns ON wr_order_number = ws_order_number AND ws_item_sk = wr_item_sk
        JOIN date_dim ON ws_sold_date_sk = d_date_sk
    WHERE wr_order_number IS NULL
    GROUP BY d_year, ws_item_sk, ws_bill_customer_sk),
cs AS (
    SELECT d_year AS sold_year, cs_item_sk AS item_sk, cs_bill_customer_sk AS customer_sk, sum(cs_quantity) AS qty,
        sum(cs_wholesale_cost) AS wc, sum(cs_sales_price) AS sp
    FROM catalog_sales LEFT JOIN catalog_returns ON cr_order_number = cs_order_number AND cs_item_sk = cr_item_sk
        JOIN date_dim ON cs_sold_date_sk = d_date_sk
    WHERE cr_order_number IS NULL
    GROUP BY d_year, cs_item_sk, cs_bill_customer_sk),
ss AS (
    SELECT d_year AS sold_year, ss_item_sk AS item_sk, ss_customer_sk AS customer_sk, sum(ss_quantity) AS qty,
        sum(ss_wholesale_cost) AS wc, sum(ss_sales_price) AS sp
    FROM store_sales LEFT JOIN store_returns ON sr_ticket_number = ss_ticket_number AND ss_item_sk = sr_item_sk
        JOIN date_dim ON ss_sold_date_sk = d_date_sk
    WHERE sr_ticket_number IS NULL
    GROUP BY d_year, ss_item_sk, ss_customer_sk)
SELECT ss.sold_year, ss.item_sk, ss.customer_sk, round(ss.qty / (coalesce(ws.qty, 0) + coalesce(cs.qty, 0)),
    2) AS ratio,
    ss.qty AS store_qty, ss.wc AS store_wholesale_cost, ss.sp AS store_sales_price,
    coalesce(ws.qty, 0) + coalesce(cs.qty, 0) AS other_qty, coalesce(ws.wc, 0) + coalesce(cs.wc,
        0) AS other_wholesale_cost,
    coalesce(ws.sp, 0) + coalesce(cs.sp, 0) AS other_sales_price
FROM ss
    LEFT JOIN ws ON ws.sold_year = ss.sold_year AND ws.item_sk = ss.item_sk AND ws.customer_sk = ss.customer_sk
    LEFT JOIN cs ON cs.sold_year = ss.sold_year AND cs.item_sk = ss.item_sk AND cs.customer_sk = ss.customer_sk
WHERE (coalesce(ws.qty, 0) > 0 OR coalesce(cs.qty, 0) > 0) AND ss.sold_year = 2000
ORDER BY ss.item_sk, ss.customer_sk, store_qty DESC, store_wholesale_cost DESC, other_qty, ratio
LIMIT 100
