// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * Measures from the end of each batch to the end of the next: fetching, converting and transforming
 * are in, the start of consumer and converter is left out. Told is the median of all batches, which
 * neither the compiler's first work nor a neighbour on the machine moves.
 */
public final class CountingSinkTask extends SinkTask {
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final List<Double> cpuNanos = new ArrayList<>();
  private final List<Double> allocatedBytes = new ArrayList<>();
  private long expected;
  private Path result;
  private long records;
  private Meter last;
  private boolean isTold;

  /** As Connect makes it. */
  public CountingSinkTask() {}

  /** What this thread has used so far. */
  private record Meter(long cpuNanos, long allocatedBytes) {}

  @Override
  public String version() {
    return "1";
  }

  @Override
  public void start(final Map<String, String> given) {
    final Map<String, Object> options = CountingSinkConnector.definition().parse(given);
    expected = (Long) options.get(CountingSinkConnector.EXPECTED);
    result = Path.of((String) options.get(CountingSinkConnector.RESULT));
  }

  @Override
  public void put(final Collection<SinkRecord> batch) {
    if (batch.isEmpty() || isTold) {
      return;
    }
    final Meter now =
        new Meter(threads.getCurrentThreadCpuTime(), threads.getCurrentThreadAllocatedBytes());
    if (last != null) {
      final double count = batch.size();
      cpuNanos.add((now.cpuNanos - last.cpuNanos) / count);
      allocatedBytes.add((now.allocatedBytes - last.allocatedBytes) / count);
    }
    records += batch.size();
    if (records >= expected) {
      isTold = true;
      tell();
    }
    last = new Meter(threads.getCurrentThreadCpuTime(), threads.getCurrentThreadAllocatedBytes());
  }

  private void tell() {
    final String told =
        String.format(
            Locale.ROOT,
            "{\"records\": %d, \"cpu_ns\": %.2f, \"bytes\": %.2f}%n",
            records,
            median(cpuNanos),
            median(allocatedBytes));
    final Path unfinished = result.resolveSibling(result.getFileName() + ".part");
    try {
      Files.writeString(unfinished, told);
      Files.move(unfinished, result, StandardCopyOption.ATOMIC_MOVE);
    } catch (final IOException error) {
      throw new UncheckedIOException("Writing the figures to " + result, error);
    }
  }

  private static double median(final List<Double> values) {
    final List<Double> sorted = values.stream().sorted().toList();
    return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
  }

  @Override
  public void stop() {
    // Nothing is held.
  }
}
