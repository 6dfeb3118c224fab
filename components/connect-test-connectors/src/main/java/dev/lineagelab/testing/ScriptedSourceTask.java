// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Task that emits one record per poll, and resumes after the last committed one. */
public final class ScriptedSourceTask extends SourceTask {
  private static final String NUMBER = "number";

  private final CountDownLatch stopped = new CountDownLatch(1);
  private FailureInjection failure;
  private List<String> topics;
  private List<ValueShape> shapes;
  private List<ValueShape> laterShapes;
  private long laterAfter;
  private long records;
  private long pauseMs;
  private Map<String, Integer> partition;
  private long next;
  private long emitted;

  /** Create an unconfigured instance, as Connect requires. */
  public ScriptedSourceTask() {}

  @Override
  public String version() {
    return "1";
  }

  @Override
  public void start(final Map<String, String> given) {
    final Map<String, Object> options = ScriptedSourceConnector.definition().parse(given);
    final int number = (Integer) options.get(ScriptedSourceConnector.TASK);
    final int failing = (Integer) options.get(ScriptedSourceConnector.FAIL_TASK);
    final boolean mayFail = failing == ScriptedSourceConnector.EVERY_TASK || failing == number;
    failure = mayFail ? FailureInjection.of(options) : FailureInjection.NONE;
    failure.at(FailureInjection.Stage.TASK_START, 0);
    topics = texts(options.get(ScriptedSourceConnector.TOPIC));
    shapes = shapes(options.get(ScriptedSourceConnector.SHAPES));
    laterShapes = shapes(options.get(ScriptedSourceConnector.LATER_SHAPES));
    laterAfter = (Long) options.get(ScriptedSourceConnector.LATER_AFTER);
    records = (Long) options.get(ScriptedSourceConnector.RECORDS);
    pauseMs = (Long) options.get(ScriptedSourceConnector.PAUSE_MS);
    partition = Map.of("task", number);
    final Map<String, Object> committed = context.offsetStorageReader().offset(partition);
    next = committed == null ? 0 : (Long) committed.get(NUMBER) + 1;
  }

  /** Return one record, or null after the last one. */
  @Override
  public List<SourceRecord> poll() throws InterruptedException {
    failure.at(FailureInjection.Stage.RECORDS, emitted);
    if (stopped.await(pauseMs, TimeUnit.MILLISECONDS) || next >= records) {
      return null;
    }
    emitted++;
    return List.of(record(next++));
  }

  private SourceRecord record(final long number) {
    final int topic = (int) (number % topics.size());
    final List<ValueShape> now =
        laterShapes.isEmpty() || number < laterAfter ? shapes : laterShapes;
    final SchemaAndValue value = now.get(topic % now.size()).value(number);
    return new SourceRecord(
        partition,
        Map.of(NUMBER, number),
        topics.get(topic),
        Schema.STRING_SCHEMA,
        "key " + number,
        value.schema(),
        value.value());
  }

  @Override
  public void stop() {
    stopped.countDown();
    if (failure != null) {
      failure.at(FailureInjection.Stage.TASK_STOP, emitted);
    }
  }

  private static List<ValueShape> shapes(final Object names) {
    return texts(names).stream().map(ValueShape::named).toList();
  }

  private static List<String> texts(final Object list) {
    return ((List<?>) list).stream().map(String.class::cast).toList();
  }
}
