// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.Column.MetadataColumn;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.types.DataType;

/** Factory of the sources of {@link MissingConnector}; it accepts all options. */
public final class MissingConnectorFactory implements DynamicTableSourceFactory {
  @Override
  public String factoryIdentifier() {
    return MissingConnector.IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of();
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(final Context context) {
    final Map<String, DataType> metadata = new LinkedHashMap<>();
    for (final Column column : context.getCatalogTable().getResolvedSchema().getColumns()) {
      if (column instanceof final MetadataColumn declared) {
        metadata.put(declared.getMetadataKey().orElse(declared.getName()), declared.getDataType());
      }
    }
    return new Source(metadata);
  }

  /** Source that is planned and never read. */
  private record Source(Map<String, DataType> metadata)
      implements ScanTableSource, SupportsReadingMetadata {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(final ScanContext context) {
      throw new UnsupportedOperationException("The connector's jar is not on the class path");
    }

    @Override
    public Map<String, DataType> listReadableMetadata() {
      return metadata;
    }

    @Override
    public void applyReadableMetadata(final List<String> keys, final DataType produced) {
      // Nothing is read.
    }

    @Override
    public DynamicTableSource copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return MissingConnector.IDENTIFIER;
    }
  }
}
