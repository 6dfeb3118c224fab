// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** Task that appends each batch with one write, so that tasks may share a file. */
public final class ScriptedSinkTask extends SinkTask {
  private final JsonConverter json = new JsonConverter();
  private FailureInjection failure;
  private Path file;
  private long records;

  /** Create an unconfigured instance, as Connect requires. */
  public ScriptedSinkTask() {}

  @Override
  public String version() {
    return "1";
  }

  @Override
  public void start(final Map<String, String> given) {
    final Map<String, Object> options = ScriptedSinkConnector.definition().parse(given);
    failure = FailureInjection.of(options);
    failure.at(FailureInjection.Stage.TASK_START, 0);
    final String name = (String) options.get(ScriptedSinkConnector.FILE);
    file = name.isEmpty() ? null : Path.of(name);
    json.configure(Map.of("schemas.enable", "false", "decimal.format", "NUMERIC"), false);
  }

  @Override
  public void put(final Collection<SinkRecord> batch) {
    if (batch.isEmpty()) {
      return;
    }
    failure.at(FailureInjection.Stage.RECORDS, records);
    records += batch.size();
    if (file != null) {
      write(batch);
    }
  }

  private void write(final Collection<SinkRecord> batch) {
    final StringBuilder lines = new StringBuilder();
    batch.forEach(record -> lines.append(line(record)).append('\n'));
    try {
      Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (final IOException error) {
      throw new UncheckedIOException("writing " + batch.size() + " records to " + file, error);
    }
  }

  private String line(final SinkRecord record) {
    return "{\"topic\": \""
        + record.topic()
        + "\", \"key\": "
        + text(json.fromConnectData(record.topic(), record.keySchema(), record.key()))
        + ", \"value\": "
        + text(json.fromConnectData(record.topic(), record.valueSchema(), record.value()))
        + "}";
  }

  private static String text(final byte[] json) {
    return json == null ? "null" : new String(json, StandardCharsets.UTF_8);
  }

  @Override
  public void stop() {
    if (failure != null) {
      failure.at(FailureInjection.Stage.TASK_STOP, records);
    }
  }
}
