// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.model.Field;
import dev.lineagelab.flink.sql.model.Table;
import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.script.Document.Kind;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScriptReaderTest {
  private static final String ORDERS =
      """
      CREATE TEMPORARY TABLE orders (
        order_id STRING, item STRING, price STRING, upper_item AS UPPER(item),
        part INT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA VIRTUAL,
        stamped TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'
      ) WITH (
        'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'broker:9092',
        'properties.sasl.jaas.config' = 'hush', 'key.format' = 'raw', 'key.fields' = 'order_id',
        'value.format' = 'avro-confluent', 'value.avro-confluent.url' = 'http://registry:8081',
        'value.avro-confluent.basic-auth.user-info' = 'me:hush', 'scan.startup.mode' = 'earliest-offset');
      """;
  private static final String SINKS =
      """
      CREATE TEMPORARY TABLE pairs (a STRING, b STRING) WITH ('connector' = 'blackhole');
      CREATE TEMPORARY TABLE triples (c INT, d STRING, e STRING) WITH ('connector' = 'blackhole');
      """;

  private static List<Write> writes(final String script) throws ScriptException {
    return RenderedLineage.script(script).jobs().get(0).writes();
  }

  private static ScriptException rejection(final String script) {
    return catchThrowableOfType(ScriptException.class, () -> RenderedLineage.script(script));
  }

  @Test
  void reportsDatasetOptionsWithoutSecrets() throws ScriptException {
    final Table orders =
        writes(ORDERS + SINKS + "INSERT INTO pairs SELECT item, price FROM orders")
            .get(0)
            .sources()
            .get(0);
    assertThat(orders.path()).containsExactly("default_catalog", "default_database", "orders");
    assertThat(orders.connector()).isEqualTo("kafka");
    assertThat(orders.options())
        .isEqualTo(
            Map.of(
                "topic", "orders",
                "properties.bootstrap.servers", "broker:9092",
                "key.format", "raw",
                "key.fields", "order_id",
                "value.format", "avro-confluent"));
    assertThat(orders.fields())
        .contains(
            new Field("price", "STRING", Field.Kind.PHYSICAL, null),
            new Field("upper_item", "STRING", Field.Kind.COMPUTED, null),
            new Field("part", "INT", Field.Kind.METADATA, "partition"),
            new Field("offset", "BIGINT", Field.Kind.METADATA, "offset"));
  }

  @Test
  void hintsOverrideOptionsOfSinkAndSource() throws ScriptException {
    final Write write =
        writes(
                ORDERS
                    + """
                    CREATE TEMPORARY TABLE copies (item STRING) WITH (
                      'connector' = 'kafka', 'topic' = 'copies', 'format' = 'json',
                      'properties.bootstrap.servers' = 'broker:9092');
                    INSERT INTO copies /*+ OPTIONS('topic' = 'other') */
                    SELECT item FROM orders /*+ OPTIONS('topic' = 'archive') */;
                    """)
            .get(0);
    assertThat(write.sink().options())
        .containsEntry("topic", "other")
        .containsEntry("format", "json");
    assertThat(write.sources().get(0).options()).containsEntry("topic", "archive");
  }

  @Test
  void tablesNeedNoConnectorOnTheClassPath() throws ScriptException {
    final List<Write> writes =
        writes(
            """
            CREATE TEMPORARY TABLE captured (
              id STRING, price STRING, twice AS CONCAT(id, id),
              changed TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL, PRIMARY KEY (id) NOT ENFORCED
            ) WITH ('connector' = 'mysql-cdc', 'hostname' = 'db', 'port' = '3307',
              'username' = 'me', 'password' = 'hush', 'database-name' = 'shop',
              'table-name' = 'orders');
            CREATE TEMPORARY TABLE archived (id STRING, price STRING) WITH (
              'connector' = 'mongodb', 'uri' = 'mongodb://me:hush@db:27017', 'database' = 'shop',
              'collection' = 'orders');
            CREATE TEMPORARY TABLE indexed (
              id STRING, price STRING, changed TIMESTAMP_LTZ(3), PRIMARY KEY (id) NOT ENFORCED
            ) WITH ('connector' = 'elasticsearch-7', 'hosts' = 'http://search:9200',
              'index' = 'orders');
            CREATE TEMPORARY TABLE copies (id STRING) WITH (
              'connector' = 'kafka', 'topic' = 'copies', 'format' = 'json',
              'properties.bootstrap.servers' = 'broker:9092');
            CREATE TEMPORARY TABLE more WITH ('topic' = 'more') LIKE copies;
            CREATE TEMPORARY TABLE tuned WITH ('port' = '3308') LIKE captured;
            EXECUTE STATEMENT SET BEGIN
              INSERT INTO indexed SELECT a.twice, b.price, a.changed FROM captured a
                JOIN archived b ON a.id = b.id;
              INSERT INTO more SELECT id FROM tuned;
            END;
            """);
    assertThat(RenderedLineage.lines(writes.get(0)))
        .containsExactly(
            "id <- captured.id TRANSFORMATION",
            "price <- archived.price IDENTITY",
            "changed <- captured.changed IDENTITY",
            "rows <- captured.id JOIN, archived.id JOIN");
    final Table captured = writes.get(0).sources().get(0);
    assertThat(captured.connector()).isEqualTo("mysql-cdc");
    assertThat(captured.options())
        .isEqualTo(
            Map.of(
                "hostname", "db", "port", "3307", "database-name", "shop", "table-name", "orders"));
    assertThat(writes.get(0).sources().get(1).options()).containsEntry("uri", "mongodb://db:27017");
    assertThat(writes.get(0).sink().connector()).isEqualTo("elasticsearch-7");
    assertThat(writes.get(0).sink().options()).containsEntry("index", "orders");
    assertThat(writes.get(1).sources().get(0).connector()).isEqualTo("mysql-cdc");
    assertThat(writes.get(1).sources().get(0).options()).containsEntry("port", "3308");
  }

  @Test
  void scriptsNeedNoIcebergOnTheClassPath() throws Exception {
    final List<Path> all =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .toList();
    final List<Path> others =
        all.stream().filter(path -> !path.toString().contains("iceberg-flink")).toList();
    assertThat(others).hasSizeLessThan(all.size());
    final URL[] urls = new URL[others.size()];
    for (int index = 0; index < urls.length; index++) {
      urls[index] = others.get(index).toUri().toURL();
    }
    final Thread thread = Thread.currentThread();
    final ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(loader);
      final Object document =
          loader
              .loadClass(ScriptReader.class.getName())
              .getMethod("read", String.class)
              .invoke(
                  null,
                  ORDERS
                      + "CREATE TABLE items (item STRING) WITH ('connector' = 'blackhole');"
                      + "INSERT INTO items SELECT item FROM orders;");
      assertThat(document.toString()).contains("topic=orders");
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void computedColumnsResolveToPhysicalColumns() throws ScriptException {
    assertThat(
            RenderedLineage.query(
                ORDERS,
                "SELECT upper_item, part, stamped FROM orders WHERE `offset` > 3 AND part < 2"))
        .containsExactly(
            "upper_item <- orders.item TRANSFORMATION",
            "part <- orders.part IDENTITY",
            "stamped <- orders.stamped IDENTITY",
            "rows <- orders.offset FILTER, orders.part FILTER");
  }

  @Test
  void optionHintsMakeSeparateSources() throws ScriptException {
    final Write write =
        RenderedLineage.write(
            ORDERS,
            """
            SELECT a.item FROM orders a
            JOIN orders /*+ OPTIONS('topic' = 'bids') */ b ON a.order_id = b.order_id\
            """);
    assertThat(write.sources())
        .extracting(source -> source.options().get("topic"))
        .containsExactly("orders", "bids");
  }

  @Test
  void columnsOmittedByAnInsertHaveNoSources() throws ScriptException {
    assertThat(
            RenderedLineage.lines(
                writes(ORDERS + SINKS + "INSERT INTO triples (e, c) SELECT item, part FROM orders")
                    .get(0)))
        .containsExactly(
            "c <- orders.part IDENTITY", "d <-", "e <- orders.item IDENTITY", "rows <-");
  }

  @Test
  void upsertSinksIncludeMetadataButNoComputedColumns() throws ScriptException {
    final String sink =
        """
        CREATE TEMPORARY TABLE counts (
          k STRING, twice AS CONCAT(k, k), n BIGINT, stamped TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
          part INT METADATA FROM 'partition' VIRTUAL, PRIMARY KEY (k) NOT ENFORCED
        ) WITH ('connector' = 'upsert-kafka', 'topic' = 'counts', 'key.format' = 'raw',
          'properties.bootstrap.servers' = 'broker:9092', 'value.format' = 'avro-confluent',
          'value.avro-confluent.url' = 'http://registry:8081');
        """;
    assertThat(
            RenderedLineage.lines(
                writes(
                        ORDERS
                            + sink
                            + "INSERT INTO counts SELECT item, COUNT(*), MAX(stamped) FROM orders"
                            + " GROUP BY item")
                    .get(0)))
        .containsExactly(
            "k <- orders.item IDENTITY",
            "n <-",
            "stamped <- orders.stamped AGGREGATION",
            "rows <- orders.item GROUP_BY");
  }

  @Test
  void statementSetInsertsHaveSeparateLineage() throws ScriptException {
    for (final String set :
        List.of("EXECUTE STATEMENT SET BEGIN %s END;", "BEGIN STATEMENT SET; %s END;")) {
      final Document document =
          RenderedLineage.script(
              ORDERS
                  + SINKS
                  + set.formatted(
                      """
                      INSERT INTO pairs SELECT item, price FROM orders;
                      INSERT INTO triples SELECT part, 'x', order_id FROM orders WHERE part > 1;
                      """));
      assertThat(document.jobs()).hasSize(1);
      assertThat(document.jobs().get(0).writes().stream().map(RenderedLineage::lines))
          .containsExactly(
              List.of("a <- orders.item IDENTITY", "b <- orders.price IDENTITY", "rows <-"),
              List.of(
                  "c <- orders.part IDENTITY",
                  "d <-",
                  "e <- orders.order_id IDENTITY",
                  "rows <- orders.part FILTER"));
    }
  }

  @Test
  void classifiesStatements() throws ScriptException {
    final Document document =
        RenderedLineage.script(
            ORDERS
                + """
                SET 'pipeline.name' = 'mine'; SET 's3.secret-key' = 'hush';
                CREATE VIEW v AS SELECT item FROM orders;
                SHOW TABLES;
                CREATE TABLE made WITH ('connector' = 'blackhole') AS SELECT * FROM v;
                INSERT INTO made SELECT item FROM v;
                """);
    assertThat(document.statements())
        .extracting(Document.ParsedStatement::kind)
        .containsExactly(
            Kind.DEFINITION,
            Kind.SETTING,
            Kind.SETTING,
            Kind.DEFINITION,
            Kind.OTHER,
            Kind.WRITE,
            Kind.WRITE);
    assertThat(document.settings()).isEqualTo(Map.of("pipeline.name", "mine"));
    assertThat(document.jobs())
        .extracting(Document.Job::statements)
        .containsExactly(List.of(5), List.of(6));
    assertThat(document.jobs().get(1).sql())
        .isEqualTo(
            "CREATE VIEW v AS SELECT item FROM orders;\nINSERT INTO made SELECT item FROM v");
  }

  @Test
  void redactsSecretsInSql() throws ScriptException {
    final String query =
        "SELECT item FROM orders /*+ OPTIONS('properties.sasl.jaas.config'='hush') */";
    assertThat(
            RenderedLineage.script(
                    ORDERS + "CREATE TABLE m WITH ('connector'='blackhole') AS " + query)
                .jobs()
                .get(0)
                .sql())
        .contains("'properties.sasl.jaas.config'='******'")
        .doesNotContain("hush");
    assertThat(Secrets.redacted("'url' = 'jdbc:postgresql://me:hush@db:5432/shop'"))
        .isEqualTo("'url' = 'jdbc:postgresql://db:5432/shop'");
  }

  @Test
  void errorsNamePositionAndCause() {
    final ScriptException unknown =
        rejection(ORDERS + "-- a comment; and more\nCREATE VIEW v AS\n  SELECT nope FROM orders;");
    assertThat(unknown)
        .hasMessage(
            "line 12, column 10: Column 'nope' not found in any table"
                + System.lineSeparator()
                + "  in: CREATE VIEW v AS SELECT nope FROM orders");
    assertThat(rejection("SELECT 1; INSERT INTO t SELECT FROM x"))
        .hasMessageStartingWith("line 1, column 32: Incorrect syntax near the keyword 'FROM'")
        .hasMessageNotContaining("Was expecting");
    assertThat(
            rejection(
                    "CREATE TABLE t (a STRING) WITH ('connector' = 'kafka'); INSERT INTO t SELECT a"
                        + " FROM t")
                .kind())
        .isEqualTo(ScriptException.Kind.STATEMENT);
  }

  @Test
  void errorNamesAnUnavailableCatalog() {
    final ScriptException away =
        rejection(
            """
            CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'rest',
              'uri' = 'http://127.0.0.1:1', 's3.secret-access-key' = 'hush');
            """);
    assertThat(away.kind()).isEqualTo(ScriptException.Kind.CATALOG);
    assertThat(away)
        .hasMessageContaining("catalog lake at http://127.0.0.1:1 cannot be opened: ")
        .hasMessageNotContaining("hush");
  }

  @Test
  void analysisDoesNotChangeTheCatalog(@TempDir final Path warehouse) throws Exception {
    final String catalog = lake(warehouse);
    final Document document =
        RenderedLineage.script(
            catalog
                + ORDERS
                + """
                CREATE DATABASE IF NOT EXISTS lake.live;
                CREATE TABLE IF NOT EXISTS lake.live.orders (id STRING, price DECIMAL(10, 2));
                ALTER TABLE lake.live.orders ADD late BOOLEAN;
                CREATE TABLE lake.live.dropped (a INT);
                DROP TABLE lake.live.dropped;
                INSERT INTO lake.live.orders
                  SELECT order_id, TRY_CAST(price AS DECIMAL(10, 2)), part > 1 FROM orders;
                """);
    final Write write = document.jobs().get(0).writes().get(0);
    assertThat(write.sink().path()).containsExactly("lake", "live", "orders");
    assertThat(write.sink().connector()).isEqualTo("iceberg");
    assertThat(write.sink().location()).isNull();
    assertThat(RenderedLineage.lines(write))
        .containsExactly(
            "id <- orders.order_id IDENTITY",
            "price <- orders.price TRANSFORMATION",
            "late <- orders.part TRANSFORMATION",
            "rows <-");
    try (var files = Files.list(warehouse)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void resolvesTablesOfARealCatalog(@TempDir final Path warehouse) throws Exception {
    IcebergLake.create(warehouse, "live", "orders");
    final String read = "SELECT id AS order_id, price FROM lake.live.orders WHERE price > 0";
    final Table orders = RenderedLineage.write(lake(warehouse), read).sources().get(0);
    assertThat(orders.location()).isEqualTo(warehouse + "/live/orders");
    assertThat(RenderedLineage.query(lake(warehouse), read))
        .containsExactly(
            "order_id <- orders.id IDENTITY",
            "price <- orders.price IDENTITY",
            "rows <- orders.price FILTER");
    assertThat(
            rejection(
                lake(warehouse) + "DROP TABLE lake.live.orders; SELECT * FROM lake.live.orders"))
        .hasMessageContaining("not found");
    assertThat(rejection(lake(warehouse) + "CREATE TABLE lake.live.orders (a INT)"))
        .hasMessageContaining("already exists");
    assertThat(IcebergLake.tables(warehouse, "live")).containsExactly("orders");
  }

  @Test
  void overwritesWithStaticPartitions(@TempDir final Path warehouse) throws ScriptException {
    final Write write =
        writes(
                lake(warehouse)
                    + ORDERS
                    + """
                    CREATE DATABASE lake.live;
                    CREATE TABLE lake.live.days (day_of STRING, item STRING) PARTITIONED BY (day_of);
                    INSERT OVERWRITE lake.live.days PARTITION (day_of = '1') SELECT item FROM orders;
                    """)
            .get(0);
    assertThat(write.overwrite()).isTrue();
    assertThat(RenderedLineage.lines(write))
        .containsExactly("day_of <-", "item <- orders.item IDENTITY", "rows <-");
  }

  private static String lake(final Path warehouse) {
    return "CREATE CATALOG lake WITH ('type'='iceberg', 'catalog-type'='hadoop', 'warehouse'='%s');"
        .formatted(warehouse);
  }
}
