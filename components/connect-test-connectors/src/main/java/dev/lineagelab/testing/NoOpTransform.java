// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** Transform without effect: the baseline for measuring the cost of others. */
public final class NoOpTransform<R extends ConnectRecord<R>> implements Transformation<R> {

  /** Create an unconfigured instance, as Connect requires. */
  public NoOpTransform() {}

  @Override
  public R apply(final R record) {
    return record;
  }

  @Override
  public ConfigDef config() {
    return new ConfigDef();
  }

  @Override
  public void configure(final Map<String, ?> given) {
    // No options.
  }

  @Override
  public void close() {
    // No resources to release.
  }
}
