// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.core.io.InputStatus;

/** Reader that runs one step at a time, of its first partition that has one to do. */
final class ScriptedReader implements SourceReader<GenericRecord, ScriptedSplit> {
  private final Probe probe;
  private final SourceReaderContext context;
  private final List<List<Step>> scripts;
  private final List<ScriptedSplit> splits = new ArrayList<>();
  private boolean complete;
  private CompletableFuture<Void> assigned = new CompletableFuture<>();
  private CompletableFuture<Void> change = new CompletableFuture<>();

  ScriptedReader(
      final Probe probe, final SourceReaderContext context, final List<List<Step>> scripts) {
    this.probe = probe;
    this.context = context;
    this.scripts = scripts;
  }

  @Override
  public void start() {}

  @Override
  public InputStatus pollNext(final ReaderOutput<GenericRecord> output) {
    // Taken before the state is read, so that no later change is missed.
    change = probe.nextChange();
    for (int i = 0; i < splits.size(); i++) {
      final ScriptedSplit split = splits.get(i);
      final List<Step> script = scripts.get(split.partition());
      if (split.position() == script.size()) {
        // A finished partition must not hold back the watermark.
        output.releaseOutputForSplit(split.splitId());
        splits.remove(i);
        return InputStatus.MORE_AVAILABLE;
      }
      if (tryRun(script.get(split.position()), split, output)) {
        splits.set(i, new ScriptedSplit(split.partition(), split.position() + 1));
        return InputStatus.MORE_AVAILABLE;
      }
    }
    return complete && splits.isEmpty() ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
  }

  private boolean tryRun(
      final Step step, final ScriptedSplit split, final ReaderOutput<GenericRecord> output) {
    if (step instanceof Step.Order order) {
      output.createOutputForSplit(split.splitId()).collect(order.record(), order.recordTimestamp());
      return true;
    }
    // Registers the split with the watermark generator before its first order.
    output.createOutputForSplit(split.splitId());
    if (step instanceof Step.Watermark watermark) {
      return probe.hasPassed(watermark.time());
    }
    if (step instanceof Step.Failure) {
      if (probe.isFirstFailure()) {
        throw new IllegalStateException("planned failure");
      }
      return true;
    }
    return step instanceof Step.Release && probe.isReleased();
  }

  @Override
  public List<ScriptedSplit> snapshotState(final long checkpoint) {
    return List.copyOf(splits);
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return CompletableFuture.anyOf(change, assigned).thenApply(done -> null);
  }

  @Override
  public void addSplits(final List<ScriptedSplit> added) {
    splits.addAll(added);
    assigned.complete(null);
    assigned = new CompletableFuture<>();
  }

  @Override
  public void notifyNoMoreSplits() {
    complete = true;
    assigned.complete(null);
    assigned = new CompletableFuture<>();
  }

  @Override
  public void close() {}
}
