// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.Map;
import org.apache.flink.table.catalog.exceptions.CatalogException;

/** Failure to open a catalog: the catalog is unavailable or its options are invalid. */
final class CatalogUnavailableException extends CatalogException {
  private static final long serialVersionUID = 1L;

  CatalogUnavailableException(
      final String name, final Map<String, String> options, final Throwable cause) {
    super("catalog %s%s cannot be opened".formatted(name, address(options)), cause);
  }

  private static String address(final Map<String, String> options) {
    final String uri = options.get("uri");
    return uri == null ? "" : " at " + Secrets.withoutUserInfo(uri);
  }
}
