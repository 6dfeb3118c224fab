// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** Transform that passes records unchanged until its configured failure. */
public final class FailingTransform<R extends ConnectRecord<R>> implements Transformation<R> {
  private FailureInjection failure;
  private long records;

  /** Create an unconfigured instance, as Connect requires. */
  public FailingTransform() {}

  @Override
  public R apply(final R record) {
    failure.at(FailureInjection.Stage.RECORDS, records);
    records++;
    return record;
  }

  @Override
  public ConfigDef config() {
    return FailureInjection.addTo(new ConfigDef());
  }

  @Override
  public void configure(final Map<String, ?> given) {
    failure = FailureInjection.of(config().parse(given));
  }

  @Override
  public void close() {
    // No resources to release.
  }
}
