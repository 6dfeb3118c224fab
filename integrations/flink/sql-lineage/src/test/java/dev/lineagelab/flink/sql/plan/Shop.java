// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

/** Table definitions of the tests. */
final class Shop {
  static final String TABLES =
      """
      CREATE TEMPORARY TABLE orders (
        order_id STRING, item STRING, price STRING, supplier STRING, bid_time TIMESTAMP(3),
        proc AS PROCTIME(), WATERMARK FOR bid_time AS bid_time - INTERVAL '5' SECOND
      ) WITH ('connector' = 'datagen');
      CREATE TEMPORARY TABLE suppliers (
        name STRING, country STRING, since TIMESTAMP(3),
        WATERMARK FOR since AS since, PRIMARY KEY (name) NOT ENFORCED
      ) WITH ('connector' = 'datagen');
      CREATE TEMPORARY TABLE parcels (
        id INT, address ROW<city STRING, place ROW<street STRING, door INT>>,
        labels MAP<STRING, STRING>, items ARRAY<STRING>, weights ARRAY<ROW<part STRING, kg INT>>
      ) WITH ('connector' = 'datagen');
      """;

  private Shop() {}
}
