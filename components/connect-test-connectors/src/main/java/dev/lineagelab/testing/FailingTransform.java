// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** Passes records on until it is to fail. */
public final class FailingTransform<R extends ConnectRecord<R>> implements Transformation<R> {
  private Failure failure;
  private long records;

  /** As Connect makes it. */
  public FailingTransform() {}

  @Override
  public R apply(final R record) {
    failure.at(Failure.Stage.RECORDS, records);
    records++;
    return record;
  }

  @Override
  public ConfigDef config() {
    return Failure.addTo(new ConfigDef());
  }

  @Override
  public void configure(final Map<String, ?> given) {
    failure = Failure.of(config().parse(given));
  }

  @Override
  public void close() {
    // Nothing is held.
  }
}
