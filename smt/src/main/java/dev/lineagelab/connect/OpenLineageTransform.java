// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import dev.lineagelab.connect.agent.PluginRuntime;
import dev.lineagelab.connect.events.Producer;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.settings.OptionDefinitions;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes topics and schemas of the records that pass through and returns each record unchanged.
 * Covers keys and values, so there are no Key and Value variants.
 *
 * <p>Failures are logged and never reach the task.
 */
public class OpenLineageTransform<R extends ConnectRecord<R>> implements Transformation<R> {
  private static final Logger LOG = LoggerFactory.getLogger(OpenLineageTransform.class);

  /** True if sink records have the topic from before all transforms (Kafka 3.6 and later). */
  private static final boolean HAS_ORIGINAL_TOPIC = hasOriginalTopic();

  private final KnownSchemas known = new KnownSchemas();
  private TaskObserver observer;

  private static boolean hasOriginalTopic() {
    try {
      return SinkRecord.class.getMethod("originalTopic") != null;
    } catch (final NoSuchMethodException e) {
      return false;
    }
  }

  @Override
  public String version() {
    return Producer.VERSION;
  }

  /**
   * Option definitions. Connect creates instances for this call alone: constructors start nothing.
   */
  @Override
  public ConfigDef config() {
    return OptionDefinitions.all();
  }

  @Override
  public void configure(final Map<String, ?> options) {
    try {
      start(PluginRuntime.registerTransform(options));
    } catch (final Throwable e) {
      observer = null;
      LOG.error("Cannot start lineage of this task; its records are not affected", e);
    }
  }

  /** Observe records with an observer. */
  void start(final TaskObserver taskObserver) {
    observer = taskObserver;
  }

  @Override
  public R apply(final R record) {
    if (observer != null && record != null) {
      final String topic = topicOf(record);
      if (!known.contains(topic, record.keySchema(), record.valueSchema())) {
        observe(record, topic);
      }
    }
    return record;
  }

  private String topicOf(final R record) {
    return HAS_ORIGINAL_TOPIC && record instanceof SinkRecord sink
        ? sink.originalTopic()
        : record.topic();
  }

  private void observe(final R record, final String topic) {
    try {
      final ConnectorType type =
          record instanceof SinkRecord ? ConnectorType.SINK : ConnectorType.SOURCE;
      final Schema key = record.keySchema();
      final Schema value = record.valueSchema();
      if (topic != null && observer.observe(topic, key, value, type)) {
        if (observer.hasReplacedSchema(topic)) {
          // The return of the replaced schema must be observed.
          known.clear();
        }
        known.add(topic, key, value);
      }
    } catch (final Throwable e) {
      observer = null;
      LOG.error("Stopping lineage of this task after a failure; its records are not affected", e);
    }
  }

  @Override
  public void close() {
    final TaskObserver closed = observer;
    observer = null;
    if (closed == null) {
      return;
    }
    try {
      PluginRuntime.unregisterTransform(closed);
    } catch (final Throwable e) {
      LOG.error("Cannot close lineage of this task; its last record counts are lost", e);
    }
  }
}
