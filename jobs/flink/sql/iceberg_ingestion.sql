-- SPDX-License-Identifier: Apache-2.0
-- lab: service
-- needs: topic/orders, subject/orders-value, schema_registry, iceberg_catalog

-- Streams orders into the lake: each valid order exactly once.

CREATE DATABASE IF NOT EXISTS lake.live;

CREATE TABLE IF NOT EXISTS lake.live.orders (
  order_id STRING,
  item STRING,
  price DECIMAL(10, 2),
  supplier STRING,
  bid_time TIMESTAMP(6)
) WITH (
  'format-version' = '2',
  -- Each checkpoint commits and rewrites the metadata file.
  'write.metadata.delete-after-commit.enabled' = 'true',
  'write.metadata.previous-versions-max' = '10'
);

CREATE TEMPORARY TABLE orders (
  order_id STRING,
  item STRING,
  price STRING,
  supplier STRING,
  bid_time TIMESTAMP(3),
  arrived AS PROCTIME()
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '${KAFKA_BOOTSTRAP}',
  'properties.security.protocol' = '${KAFKA_SECURITY_PROTOCOL}',
  'properties.sasl.mechanism' = '${KAFKA_SASL_MECHANISM}',
  'properties.group.id' = 'iceberg_ingestion',
  'properties.isolation.level' = 'read_committed',
  'scan.startup.mode' = 'earliest-offset',
  'value.format' = 'avro-confluent',
  'value.avro-confluent.url' = '${SCHEMA_REGISTRY_URL}'
);

-- Duplicates arrive within minutes; unbounded deduplication state would exhaust the heap.
SET 'table.exec.state.ttl' = '1 d';

INSERT INTO lake.live.orders
SELECT order_id, item, price, supplier, bid_time
FROM (
  SELECT
    order_id,
    item,
    TRY_CAST(price AS DECIMAL(10, 2)) AS price,
    supplier,
    bid_time,
    ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY arrived ASC) AS copy
  FROM orders
  WHERE
    order_id IS NOT NULL
    AND supplier IS NOT NULL
    AND bid_time IS NOT NULL
    AND TRY_CAST(price AS DECIMAL(10, 2)) IS NOT NULL
)
WHERE copy = 1;
