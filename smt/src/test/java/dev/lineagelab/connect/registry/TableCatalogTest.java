// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableCatalogTest {
  private static final Map<String, String> REST =
      Map.of("iceberg.catalog.type", "rest", "iceberg.catalog.uri", "http://catalog:8181/");

  private static TableCatalog catalog(final String... more) {
    final Map<String, String> options = new HashMap<>(REST);
    for (int i = 0; i < more.length; i += 2) {
      options.put("iceberg.catalog." + more[i], more[i + 1]);
    }
    return TableCatalog.of(new ConnectorOptions(options));
  }

  @Test
  void aRestCatalogIsAsked() {
    final TableCatalog found = catalog("warehouse", "lake");
    assertThat(found.url()).isEqualTo("http://catalog:8181");
    assertThat(found.warehouse()).isEqualTo("lake");
    assertThat(found.authorization().value()).isEmpty();
    assertThat(catalog("type", "", "catalog-impl", "org.apache.iceberg.rest.RESTCatalog"))
        .isEqualTo(catalog());
  }

  @Test
  void aTokenIsSent() {
    final TableCatalog found = catalog("token", "secret", "rest.auth.type", "oauth2");
    assertThat(found.authorization().value()).isEqualTo("Bearer secret");
    assertThat(found.toString()).doesNotContain("secret");
  }

  @ParameterizedTest
  @CsvSource({
    "type, hive, its catalog has no REST API",
    "credential, id:secret, 'iceberg.catalog.credential' is not supported",
    "rest.sigv4-enabled, true, 'iceberg.catalog.rest.sigv4-enabled' is not supported",
    "token, ${file:/secrets:token}, the value of 'token' is a reference"
  })
  void anotherOneIsNot(final String option, final String value, final String reason) {
    assertThatThrownBy(() -> catalog(option, value))
        .isInstanceOf(UnusableOptionException.class)
        .hasMessage(reason);
  }

  @Test
  void anInactiveMethodIsIgnored() {
    assertThat(catalog("rest.sigv4-enabled", "false", "rest.auth.type", "none"))
        .isEqualTo(catalog());
  }
}
