// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** The least that a transform can do; what others cost is told against it. */
public final class NoOpTransform<R extends ConnectRecord<R>> implements Transformation<R> {

  /** As Connect makes it. */
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
    // It has no options.
  }

  @Override
  public void close() {
    // Nothing is held.
  }
}
