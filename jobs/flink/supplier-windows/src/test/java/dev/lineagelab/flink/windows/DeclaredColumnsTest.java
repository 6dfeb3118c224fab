// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;

/**
 * Test of the declared column lineage by perturbation: the job runs on modified orders and its
 * outputs are compared.
 *
 * <p>Changing a field equally in all orders keeps the rows and changes exactly the columns that
 * depend on it directly. A change of a field in one order that moves the order to another row, or
 * drops it, proves that rows depend on that field.
 */
class DeclaredColumnsTest extends JobTestBase {
  private static final long HOUR = Duration.ofHours(1).toMillis();

  private static final List<Step.Order> ORDERS =
      List.of(
          sold("alder", "1.10", NOON),
          sold("alder", "2.20", NOON + 1 * SECOND),
          sold("birch", "4.40", NOON + 2 * SECOND),
          sold("alder", "8.80", NOON + 5 * SECOND),
          sold("birch", "16", NOON + 11 * SECOND));

  /** Index of the modified order; its window contains other orders, too. */
  private static final int CHANGED = 1;

  private static final Map<String, UnaryOperator<Step.Order>> IN_ALL_ORDERS =
      Map.of(
          "price", order -> with(order, "1" + order.price(), order.supplier(), order.bidTime()),
          "supplier", order -> with(order, order.price(), order.supplier() + "s", order.bidTime()),
          "bid_time",
              order -> with(order, order.price(), order.supplier(), order.bidTime() + 5 * SECOND),
          "_timestamp", order -> recordedAt(order, order.recordTimestamp() + HOUR));

  private static final Map<String, List<UnaryOperator<Step.Order>>> IN_ONE_ORDER =
      Map.of(
          "price",
              List.of(
                  order -> with(order, "3.30", order.supplier(), order.bidTime()),
                  order -> with(order, "much", order.supplier(), order.bidTime())),
          "supplier",
              List.of(
                  order -> with(order, order.price(), "birch", order.bidTime()),
                  order -> with(order, order.price(), "", order.bidTime())),
          "bid_time",
              List.of(
                  order -> with(order, order.price(), order.supplier(), NOON + 6 * SECOND),
                  order -> with(order, order.price(), order.supplier(), null)),
          "_timestamp",
              List.of(
                  order -> recordedAt(order, order.recordTimestamp() - 1),
                  order -> recordedAt(order, order.recordTimestamp() - 2 * HOUR)));

  @Test
  void declaresExactlyTheOutputColumns() throws Exception {
    final Set<String> written =
        Schemas.SUPPLIER_WINDOW.getFields().stream()
            .map(Schema.Field::name)
            .collect(Collectors.toCollection(TreeSet::new));
    written.add("_key");

    assertThat(DeclaredColumns.read().columns()).isEqualTo(written);
  }

  @Test
  void perturbsEveryFieldOfAnOrder() {
    final Set<String> read =
        Schemas.ORDER.getFields().stream().map(Schema.Field::name).collect(Collectors.toSet());
    read.add("_timestamp");

    assertThat(IN_ALL_ORDERS.keySet()).isEqualTo(IN_ONE_ORDER.keySet()).isEqualTo(read);
  }

  @Test
  void fieldChangesExactlyTheDeclaredColumns() throws Exception {
    final DeclaredColumns declared = DeclaredColumns.read();
    final List<Map<String, Object>> before = rows(ORDERS);

    for (final Map.Entry<String, UnaryOperator<Step.Order>> change : IN_ALL_ORDERS.entrySet()) {
      final List<Map<String, Object>> after = rows(ORDERS.stream().map(change.getValue()).toList());

      assertThat(changed(before, after))
          .as(change.getKey())
          .isEqualTo(declared.columnsFrom(change.getKey()));
    }
  }

  @Test
  void rowsDependOnExactlyTheDeclaredFields() throws Exception {
    final Map<List<Object>, Long> before = counts(ORDERS);
    final Set<String> filtering = new TreeSet<>();
    final Set<String> grouping = new TreeSet<>();

    for (final Map.Entry<String, List<UnaryOperator<Step.Order>>> changes :
        IN_ONE_ORDER.entrySet()) {
      for (final UnaryOperator<Step.Order> change : changes.getValue()) {
        final List<Step.Order> orders = new ArrayList<>(ORDERS);
        orders.set(CHANGED, change.apply(ORDERS.get(CHANGED)));
        final Map<List<Object>, Long> after = counts(orders);
        if (sum(after) < sum(before)) {
          filtering.add(changes.getKey());
        } else if (!after.equals(before)) {
          grouping.add(changes.getKey());
        }
      }
    }

    final DeclaredColumns declared = DeclaredColumns.read();
    assertThat(filtering).isEqualTo(declared.rowFields("FILTER"));
    assertThat(grouping).isEqualTo(declared.rowFields("GROUP_BY", "WINDOW"));
  }

  /**
   * Runs the job and returns its rows by column, in an order that is stable across renamed
   * suppliers.
   */
  private List<Map<String, Object>> rows(final List<Step.Order> orders) throws Exception {
    start(WINDOWING, 1, null, List.of(List.copyOf(orders)));
    finish();
    final List<Map<String, Object>> rows = new ArrayList<>();
    probe.drain().stream()
        .sorted(Comparator.comparing(SupplierWindow::supplier).thenComparing(SupplierWindow::start))
        .forEach(window -> rows.add(row(window)));
    return rows;
  }

  private static Map<String, Object> row(final SupplierWindow window) {
    final GenericRecord value = WindowRecords.value(window);
    final Map<String, Object> row = new TreeMap<>();
    value.getSchema().getFields().forEach(field -> row.put(field.name(), value.get(field.pos())));
    row.put("_key", new String(WindowRecords.key(window)));
    return row;
  }

  private static Set<String> changed(
      final List<Map<String, Object>> before, final List<Map<String, Object>> after) {
    assertThat(after).hasSameSizeAs(before);
    final Set<String> changed = new TreeSet<>();
    for (int i = 0; i < before.size(); i++) {
      final Map<String, Object> now = after.get(i);
      before
          .get(i)
          .forEach(
              (column, value) -> {
                if (!value.equals(now.get(column))) {
                  changed.add(column);
                }
              });
    }
    return changed;
  }

  private Map<List<Object>, Long> counts(final List<Step.Order> orders) throws Exception {
    return rows(orders).stream()
        .collect(
            Collectors.toMap(
                row -> List.of(row.get("supplier"), row.get("window_start")),
                row -> (Long) row.get("count")));
  }

  private static long sum(final Map<List<Object>, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private static Step.Order sold(final String supplier, final String price, final long bidTime) {
    return new Step.Order(price, supplier, bidTime, bidTime + SECOND);
  }

  private static Step.Order with(
      final Step.Order order, final String price, final String supplier, final Long bidTime) {
    return new Step.Order(price, supplier, bidTime, order.recordTimestamp());
  }

  private static Step.Order recordedAt(final Step.Order order, final long time) {
    return new Step.Order(order.price(), order.supplier(), order.bidTime(), time);
  }
}
