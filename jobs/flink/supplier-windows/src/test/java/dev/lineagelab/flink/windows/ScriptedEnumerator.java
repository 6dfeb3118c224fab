// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/** Assigns the partitions round-robin once all readers have registered. */
final class ScriptedEnumerator implements SplitEnumerator<ScriptedSplit, List<ScriptedSplit>> {
  private final SplitEnumeratorContext<ScriptedSplit> context;
  private final List<ScriptedSplit> unassigned;

  ScriptedEnumerator(
      final SplitEnumeratorContext<ScriptedSplit> context, final List<ScriptedSplit> unassigned) {
    this.context = context;
    this.unassigned = new ArrayList<>(unassigned);
  }

  @Override
  public void start() {}

  @Override
  public void addReader(final int subtask) {
    if (context.registeredReaders().size() < context.currentParallelism()) {
      return;
    }
    for (final ScriptedSplit split : unassigned) {
      context.assignSplit(split, split.partition() % context.currentParallelism());
    }
    unassigned.clear();
    context.registeredReaders().keySet().forEach(context::signalNoMoreSplits);
  }

  @Override
  public void handleSplitRequest(final int subtask, final String host) {}

  @Override
  public void addSplitsBack(final List<ScriptedSplit> splits, final int subtask) {
    unassigned.addAll(splits);
  }

  @Override
  public List<ScriptedSplit> snapshotState(final long checkpoint) {
    return List.copyOf(unassigned);
  }

  @Override
  public void close() {}
}
