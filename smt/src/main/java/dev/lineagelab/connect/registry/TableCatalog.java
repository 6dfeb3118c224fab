// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.common.config.types.Password;

/**
 * Iceberg catalog of a sink, queried by the API of REST catalogs.
 *
 * @param url without a trailing slash
 * @param warehouse name or location that the catalog is asked for; empty if there is none
 * @param authorization value of the header Authorization; empty if there is none
 */
record TableCatalog(String url, String warehouse, Password authorization) {
  private static final String PREFIX = "iceberg.catalog.";
  private static final String TOKEN = "token";

  /** Options of authentication methods that are not supported, in addition to a token. */
  private static final List<String> UNSUPPORTED =
      List.of("credential", "rest.sigv4-enabled", "rest.auth.type");

  /**
   * Return the catalog of a sink.
   *
   * @throws UnusableOptionException if it has no REST API, or its authentication is not supported
   */
  static TableCatalog of(final ConnectorOptions connector) {
    final ConnectorOptions options = connector.withPrefix(PREFIX);
    if (!isRest(options)) {
      throw new UnusableOptionException("its catalog has no REST API");
    }
    final Optional<String> token = options.text(TOKEN);
    if (token.isEmpty()) {
      UNSUPPORTED.stream()
          .filter(name -> options.text(name).filter(TableCatalog::isActive).isPresent())
          .findFirst()
          .ifPresent(
              name -> {
                throw new UnusableOptionException("'" + PREFIX + name + "' is not supported");
              });
    }
    return new TableCatalog(
        options.required("uri").replaceFirst("/+$", ""),
        options.text("warehouse").orElse(""),
        new Password(token.map(text -> "Bearer " + text).orElse("")));
  }

  private static boolean isActive(final String value) {
    return !List.of("none", "false").contains(value.toLowerCase(Locale.ROOT));
  }

  private static boolean isRest(final ConnectorOptions options) {
    return options.text("type").filter("rest"::equalsIgnoreCase).isPresent()
        || options.text("catalog-impl").filter(name -> name.endsWith(".RESTCatalog")).isPresent();
  }

  @Override
  public String toString() {
    return url;
  }
}
