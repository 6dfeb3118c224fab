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
 * How many orders an operator has left out, by reason: metrics that a restart does not set to 0.
 *
 * <p>They are restored with the operator's other state, so that an order which is read again is
 * counted once. Whoever sums up the subtasks of an operator gets the number of all that were left
 * out, whatever the parallelism was before.
 */
final class Counts {
  /** Why an order is left out. */
  enum Reason {
    BAD_PRICE,
    NO_SUPPLIER,
    NO_TIME,
    AHEAD_OF_RECORD,
    LATE;

    /** The name of the metric: {@code orders_bad_price}. */
    String metric() {
      return "orders_" + name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Reason, Counter> counters = new EnumMap<>(Reason.class);
  private final ListState<Tuple2<String, Long>> saved;

  /** Registers the metrics of an operator, and restores what they were. */
  Counts(final MetricGroup metrics, final OperatorStateStore state, final Reason... reasons)
      throws Exception {
    saved =
        state.getListState(
            new ListStateDescriptor<>("left-out", Types.TUPLE(Types.STRING, Types.LONG)));
    for (final Reason reason : reasons) {
      counters.put(reason, metrics.counter(reason.metric()));
    }
    for (final Tuple2<String, Long> count : saved.get()) {
      counters.get(Reason.valueOf(count.f0)).inc(count.f1);
    }
  }

  void add(final Reason reason) {
    counters.get(reason).inc();
  }

  /** Makes the counts part of a checkpoint. */
  void save() throws Exception {
    saved.clear();
    for (final Map.Entry<Reason, Counter> count : counters.entrySet()) {
      saved.add(Tuple2.of(count.getKey().name(), count.getValue().getCount()));
    }
  }
}
