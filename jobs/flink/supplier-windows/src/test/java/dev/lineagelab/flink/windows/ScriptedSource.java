// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Source whose partitions run scripts and resume them after a restart.
 *
 * <p>Independent of wall-clock time: where order matters, a script waits until a watermark has
 * reached the sink.
 */
final class ScriptedSource implements Source<GenericRecord, ScriptedSplit, List<ScriptedSplit>> {
  private static final long serialVersionUID = 1L;

  private final String probe;
  private final List<List<Step>> scripts;

  ScriptedSource(final Probe probe, final List<List<Step>> scripts) {
    this.probe = probe.id;
    this.scripts = List.copyOf(scripts);
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SourceReader<GenericRecord, ScriptedSplit> createReader(
      final SourceReaderContext context) {
    return new ScriptedReader(Probe.of(probe), context, scripts);
  }

  @Override
  public SplitEnumerator<ScriptedSplit, List<ScriptedSplit>> createEnumerator(
      final SplitEnumeratorContext<ScriptedSplit> context) {
    return new ScriptedEnumerator(
        context,
        IntStream.range(0, scripts.size())
            .mapToObj(partition -> new ScriptedSplit(partition, 0))
            .toList());
  }

  @Override
  public SplitEnumerator<ScriptedSplit, List<ScriptedSplit>> restoreEnumerator(
      final SplitEnumeratorContext<ScriptedSplit> context, final List<ScriptedSplit> unassigned) {
    return new ScriptedEnumerator(context, unassigned);
  }

  @Override
  public SimpleVersionedSerializer<ScriptedSplit> getSplitSerializer() {
    return new ScriptedSplit.Serializer();
  }

  @Override
  public SimpleVersionedSerializer<List<ScriptedSplit>> getEnumeratorCheckpointSerializer() {
    return new ScriptedSplit.ListSerializer();
  }
}
