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
 * Task that measures from the end of one batch to the end of the next, which includes fetching,
 * conversion and transforms but not the start of consumer and converter. The result is the median
 * over all batches, which is robust to JIT warm-up and to other load on the machine.
 */
public final class CountingSinkTask extends SinkTask {
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final List<Double> cpuNanos = new ArrayList<>();
  private final List<Double> allocatedBytes = new ArrayList<>();
  private long expected;
  private Path result;
  private long records;
  private Meter last;
  private boolean isWritten;

  /** Create an unconfigured instance, as Connect requires. */
  public CountingSinkTask() {}

  /** Total CPU time and allocation of this thread. */
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
    if (batch.isEmpty() || isWritten) {
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
      isWritten = true;
      writeResult();
    }
    last = new Meter(threads.getCurrentThreadCpuTime(), threads.getCurrentThreadAllocatedBytes());
  }

  private void writeResult() {
    final String line =
        String.format(
            Locale.ROOT,
            "{\"records\": %d, \"cpu_ns\": %.2f, \"bytes\": %.2f}%n",
            records,
            median(cpuNanos),
            median(allocatedBytes));
    final Path unfinished = result.resolveSibling(result.getFileName() + ".part");
    try {
      Files.writeString(unfinished, line);
      Files.move(unfinished, result, StandardCopyOption.ATOMIC_MOVE);
    } catch (final IOException error) {
      throw new UncheckedIOException("writing the result to " + result, error);
    }
  }

  private static double median(final List<Double> values) {
    final List<Double> sorted = values.stream().sorted().toList();
    return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
  }

  @Override
  public void stop() {
    // No resources to release.
  }
}
