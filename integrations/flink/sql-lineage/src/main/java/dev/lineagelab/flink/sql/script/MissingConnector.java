// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.operations.ddl.CreateTableOperation;

/**
 * Placeholder of connectors whose jar is not on the class path. Planning requires a connector for
 * each table that is read; lineage requires the table's schema and options alone.
 */
final class MissingConnector {
  static final String IDENTIFIER = "lineage-missing-connector";

  private static final String CONNECTOR = FactoryUtil.CONNECTOR.key();

  /** Option that holds the table's own connector. */
  private static final String ORIGINAL = IDENTIFIER + ".name";

  private MissingConnector() {}

  /** Returns the definition of a table, with the placeholder if its connector is missing. */
  static CreateTableOperation replaced(final CreateTableOperation creation) {
    final Map<String, String> options = new HashMap<>(creation.getCatalogTable().getOptions());
    final String connector = options.get(CONNECTOR);
    if (IDENTIFIER.equals(connector)) {
      return creation; // CREATE TABLE LIKE a table with the placeholder
    }
    final boolean isCopy = options.remove(ORIGINAL) != null;
    if (connector != null && isMissing(connector)) {
      options.put(CONNECTOR, IDENTIFIER);
      options.put(ORIGINAL, connector);
    } else if (!isCopy) {
      return creation;
    }
    return new CreateTableOperation(
        creation.getTableIdentifier(),
        creation.getCatalogTable().copy(options),
        creation.isIgnoreIfExists(),
        creation.isTemporary());
  }

  /** Returns the options of a table as the script states them. */
  static Map<String, String> original(final Map<String, String> options) {
    if (!IDENTIFIER.equals(options.get(CONNECTOR))) {
      return options;
    }
    final Map<String, String> original = new HashMap<>(options);
    original.put(CONNECTOR, original.remove(ORIGINAL));
    return original;
  }

  private static boolean isMissing(final String connector) {
    try {
      FactoryUtil.discoverFactory(
          Thread.currentThread().getContextClassLoader(), DynamicTableFactory.class, connector);
      return false;
    } catch (final ValidationException unknown) {
      return true;
    }
  }
}
