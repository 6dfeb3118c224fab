// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CatalogConfigTest {
  private static final String[] ARGS = {"--host", "127.0.0.1", "--port", "8181"};
  private static final Map<String, String> ENV =
      Map.of(
          "CATALOG_JDBC_URI", "jdbc:sqlite:/data/catalog.db",
          "CATALOG_WAREHOUSE", "s3://warehouse/",
          "CATALOG_S3_ENDPOINT", "http://127.0.0.1:9000");

  @Test
  void usesOneConnectionForSqlite() {
    final CatalogConfig config = CatalogConfig.parse(ARGS, ENV);

    assertThat(config.port()).isEqualTo(8181);
    assertThat(config.catalogProperties())
        .containsEntry("uri", "jdbc:sqlite:/data/catalog.db")
        .containsEntry("clients", "1")
        .containsEntry("jdbc.busy_timeout", "10000")
        .containsEntry("s3.path-style-access", "true");
  }

  @Test
  void rejectsAKeyStoreThatCannotBeRead() {
    assertThatThrownBy(
            () ->
                CatalogConfig.parse(ARGS, with(Map.of("CATALOG_KEY_STORE", "/nowhere/store.p12"))))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining(
            "CATALOG_KEY_STORE must be a readable file, not '/nowhere/store.p12'");
  }

  @Test
  void usesAPoolThatReconnectsForPostgres() {
    final CatalogConfig config =
        CatalogConfig.parse(
            ARGS,
            with(
                Map.of(
                    "CATALOG_JDBC_URI", "jdbc:postgresql://127.0.0.1:5432/catalog",
                    "CATALOG_JDBC_USER", "catalog",
                    "CATALOG_JDBC_PASSWORD", "secret")));

    assertThat(config.catalogProperties())
        .containsEntry("jdbc.password", "secret")
        .containsEntry("retryable_status_codes", "57P01,57P02,57P03")
        .doesNotContainKeys("clients", "jdbc.busy_timeout");
    assertThat(config.toString()).doesNotContain("secret");
  }

  @Test
  void reportsAllMissingSettingsAtOnce() {
    assertThatThrownBy(() -> CatalogConfig.parse(new String[0], Map.of()))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining("--port is missing")
        .hasMessageContaining("CATALOG_JDBC_URI is missing")
        .hasMessageContaining("CATALOG_WAREHOUSE is missing");
  }

  @Test
  void reportsUnknownAndMalformedSettings() {
    assertThatThrownBy(
            () ->
                CatalogConfig.parse(
                    new String[] {"--port", "80810"},
                    with(
                        Map.of(
                            "CATALOG_JDBC_URI", "jdbc:h2:mem:x",
                            "CATALOG_WAREHOUS", "s3://typo/",
                            "CATALOG_S3_ENDPOINT", "127.0.0.1 9000"))))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining("'80810'")
        .hasMessageContaining("[CATALOG_WAREHOUS]")
        .hasMessageContaining("jdbc:sqlite: or jdbc:postgresql:")
        .hasMessageContaining("CATALOG_S3_ENDPOINT must be a URI")
        .hasMessageNotContaining("CATALOG_WAREHOUSE must");
  }

  @Test
  void rejectsUnknownAndIncompleteArguments() {
    assertThatThrownBy(() -> CatalogConfig.parse(new String[] {"--prot", "1"}, ENV))
        .hasMessageContaining("unknown argument '--prot'");
    assertThatThrownBy(() -> CatalogConfig.parse(new String[] {"--port"}, ENV))
        .hasMessageContaining("argument --port requires a value");
  }

  private static Map<String, String> with(final Map<String, String> changes) {
    final Map<String, String> env = new HashMap<>(ENV);
    env.putAll(changes);
    return env;
  }
}
