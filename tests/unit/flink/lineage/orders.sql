-- SPDX-License-Identifier: Apache-2.0
-- Input of sql-lineage for which orders.json is the recorded output.
CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'file:///tmp/lake');
CREATE DATABASE IF NOT EXISTS lake.live;
CREATE TABLE IF NOT EXISTS lake.live.orders (
  order_id STRING, item STRING, price DECIMAL(10, 2), supplier STRING, bid_time TIMESTAMP(6), place STRING);
CREATE TEMPORARY TABLE orders (
  order_id STRING, item STRING, price STRING, supplier STRING, bid_time TIMESTAMP(3), proc AS PROCTIME(),
  part INT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA VIRTUAL
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = '127.0.0.1:9092',
  'scan.startup.mode' = 'earliest-offset', 'value.format' = 'avro-confluent',
  'value.avro-confluent.url' = 'http://127.0.0.1:8081');
CREATE TEMPORARY TABLE totals (supplier STRING, n BIGINT, total DECIMAL(38, 2), PRIMARY KEY (supplier) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'totals', 'properties.bootstrap.servers' = '127.0.0.1:9092',
  'key.format' = 'raw', 'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://127.0.0.1:8081',
  'value.fields-include' = 'EXCEPT_KEY');
CREATE TEMPORARY VIEW typed AS
SELECT order_id, item, TRY_CAST(price AS DECIMAL(10, 2)) AS price, supplier, bid_time, part, `offset`, proc
FROM orders WHERE order_id IS NOT NULL AND supplier IS NOT NULL;
EXECUTE STATEMENT SET BEGIN
INSERT INTO lake.live.orders
SELECT order_id, item, price, supplier, bid_time, CAST(part AS STRING) || '/' || CAST(`offset` AS STRING)
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY proc) AS place FROM typed)
WHERE place = 1 AND price IS NOT NULL;
INSERT INTO totals SELECT supplier, COUNT(price), SUM(price) FROM lake.live.orders GROUP BY supplier;
END;
