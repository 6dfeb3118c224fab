// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import dev.lineagelab.connect.agent.Plugin;
import dev.lineagelab.connect.events.Producer;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.observe.TaskObserver;
import dev.lineagelab.connect.settings.OptionDefinitions;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes note of the topics and schemas of the records that pass through, and hands each record on
 * as it is. It looks at keys and values together, so there is one for both.
 *
 * <p>Nothing that goes wrong in it reaches the task: without lineage records flow as well.
 */
public class OpenLineageTransform<R extends ConnectRecord<R>> implements Transformation<R> {
  private static final Logger LOG = LoggerFactory.getLogger(OpenLineageTransform.class);

  /** Whether sink records tell their topic from before all transforms (Kafka 3.6 and later). */
  private static final boolean HAS_ORIGINAL_TOPIC = hasOriginalTopic();

  private final RecentKinds known = new RecentKinds();
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

  /** Connect makes instances only to ask for this, and drops them: they must do nothing else. */
  @Override
  public ConfigDef config() {
    return OptionDefinitions.all();
  }

  @Override
  public void configure(final Map<String, ?> options) {
    try {
      observer = Plugin.transformConfigured(options);
    } catch (final Throwable e) {
      observer = null;
      LOG.error("No lineage of this task; its records are not affected", e);
    }
  }

  @Override
  public R apply(final R record) {
    if (observer != null && record != null) {
      final String topic = topicOf(record);
      if (!known.contains(topic, record.keySchema(), record.valueSchema())) {
        notice(record, topic);
      }
    }
    return record;
  }

  private String topicOf(final R record) {
    return HAS_ORIGINAL_TOPIC && record instanceof SinkRecord sink
        ? sink.originalTopic()
        : record.topic();
  }

  private void notice(final R record, final String topic) {
    try {
      final ConnectorType type =
          record instanceof SinkRecord ? ConnectorType.SINK : ConnectorType.SOURCE;
      final Schema key = record.keySchema();
      final Schema value = record.valueSchema();
      if (topic != null && observer.notice(topic, key, value, type)) {
        known.add(topic, key, value);
      }
    } catch (final Throwable e) {
      observer = null;
      LOG.error("No more lineage of this task; its records are not affected", e);
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
      Plugin.transformClosed(closed);
    } catch (final Throwable e) {
      LOG.error("The last counts of a task are not told; its records are not affected", e);
    }
  }
}
