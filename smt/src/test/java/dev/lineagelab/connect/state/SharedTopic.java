// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** State topic in memory. As in Kafka, a record reaches every worker but its writer. */
public final class SharedTopic {
  /** Record of the topic. */
  public record Entry(String writer, String key, String value) {}

  private final List<Entry> entries = new ArrayList<>();
  private boolean isLagging;

  /** Open the state of a worker and read all records. */
  public SharedState open(final String group, final String worker) {
    final SharedState state = new SharedState(new Log(worker), group, worker);
    state.catchUp();
    return state;
  }

  /** Set whether polls return nothing, as those of a client that has just been resumed. */
  public void setLagging(final boolean value) {
    isLagging = value;
  }

  /** Add a record of another writer. */
  public void add(final String writer, final String key, final String value) {
    entries.add(new Entry(writer, key, value));
  }

  /** All records in order. */
  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  private final class Log implements StateLog {
    private final String writer;
    private int position;

    private Log(final String writer) {
      this.writer = writer;
    }

    @Override
    public void append(final String key, final String value) {
      add(writer, key, value);
    }

    @Override
    public void flush() {
      // Records are stored at once.
    }

    @Override
    public void poll(final BiConsumer<String, String> consumer) {
      if (!isLagging) {
        catchUp(consumer);
      }
    }

    @Override
    public boolean catchUp(final BiConsumer<String, String> consumer) {
      for (; position < entries.size(); position++) {
        final Entry next = entries.get(position);
        if (!next.writer().equals(writer)) {
          consumer.accept(next.key(), next.value());
        }
      }
      return true;
    }

    @Override
    public boolean isDurable() {
      return true;
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
