// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Position of a partition in its script.
 *
 * @param partition number of the script
 * @param position number of completed steps
 */
record ScriptedSplit(int partition, int position) implements SourceSplit {
  private static final int BYTES = 2 * Integer.BYTES;

  @Override
  public String splitId() {
    return Integer.toString(partition);
  }

  private void write(final ByteBuffer buffer) {
    buffer.putInt(partition).putInt(position);
  }

  private static ScriptedSplit read(final ByteBuffer buffer) {
    return new ScriptedSplit(buffer.getInt(), buffer.getInt());
  }

  /** Serializer of a split. */
  static final class Serializer implements SimpleVersionedSerializer<ScriptedSplit> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(final ScriptedSplit split) {
      final ByteBuffer buffer = ByteBuffer.allocate(BYTES);
      split.write(buffer);
      return buffer.array();
    }

    @Override
    public ScriptedSplit deserialize(final int version, final byte[] bytes) {
      return read(ByteBuffer.wrap(bytes));
    }
  }

  /** Serializer of the unassigned splits. */
  static final class ListSerializer implements SimpleVersionedSerializer<List<ScriptedSplit>> {
    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(final List<ScriptedSplit> splits) {
      final ByteBuffer buffer = ByteBuffer.allocate(splits.size() * BYTES);
      splits.forEach(split -> split.write(buffer));
      return buffer.array();
    }

    @Override
    public List<ScriptedSplit> deserialize(final int version, final byte[] bytes) {
      final ByteBuffer buffer = ByteBuffer.wrap(bytes);
      final List<ScriptedSplit> splits = new ArrayList<>();
      while (buffer.hasRemaining()) {
        splits.add(read(buffer));
      }
      return splits;
    }
  }
}
