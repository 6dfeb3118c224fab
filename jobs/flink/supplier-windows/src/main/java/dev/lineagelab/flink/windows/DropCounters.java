// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/**
 * Checkpointed counters of the orders that an operator has dropped, by reason.
 *
 * <p>The counts are operator state: they survive a restart, and an order that is replayed after
 * recovery is counted once. The sum over all subtasks is correct after rescaling, too.
 */
final class DropCounters {
  /** Reason why an order is dropped. */
  enum Reason {
    BAD_PRICE,
    NO_SUPPLIER,
    NO_TIME,
    AHEAD_OF_RECORD,
    LATE;

    /** Return the name of the metric, such as {@code orders_bad_price}. */
    String metric() {
      return "orders_" + name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Reason, Counter> counters = new EnumMap<>(Reason.class);
  private final ListState<Tuple2<String, Long>> state;

  /** Registers the operator's metrics and restores their values from its state. */
  DropCounters(final MetricGroup metrics, final OperatorStateStore store, final Reason... reasons)
      throws Exception {
    state =
        store.getListState(
            new ListStateDescriptor<>("left-out", Types.TUPLE(Types.STRING, Types.LONG)));
    for (final Reason reason : reasons) {
      counters.put(reason, metrics.counter(reason.metric()));
    }
    for (final Tuple2<String, Long> count : state.get()) {
      counters.get(Reason.valueOf(count.f0)).inc(count.f1);
    }
  }

  void increment(final Reason reason) {
    counters.get(reason).inc();
  }

  /** Writes the counts to the operator's state, for a checkpoint. */
  void snapshot() throws Exception {
    state.clear();
    for (final Map.Entry<Reason, Counter> count : counters.entrySet()) {
      state.add(Tuple2.of(count.getKey().name(), count.getValue().getCount()));
    }
  }
}
