// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up tables in Iceberg catalogs on its own thread, and again while they are asked for: others
 * create and change them. While a catalog does not answer, its last answer stays.
 */
final class TableLookups implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TableLookups.class);

  private static final int MAX_LOOKUPS = 2000;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Time during which a lookup counts as pending, so that events wait for its result. */
  private static final Duration PENDING_TIMEOUT = Duration.ofSeconds(3);

  /** Lookups that were not requested for this long are dropped. */
  private static final Duration IDLE_EXPIRY = Duration.ofMinutes(2);

  private record Lookup(TableCatalog catalog, String table) {}

  private static final class State {
    private final long since = System.nanoTime();
    private TableLookupResult answer;
    private long lastRequestedAt = since;
    private boolean isFailureLogged;
  }

  private final TableFinder finder;
  private final Duration interval;
  private final Map<Lookup, State> lookups = new HashMap<>();
  private ScheduledThreadPoolExecutor thread;
  private boolean isClosed;

  /**
   * Create lookups; the thread starts with the first one.
   *
   * @param requestsPerMinute limit for all catalogs together
   * @param interval between two lookups of one table
   */
  TableLookups(final int requestsPerMinute, final Duration interval) {
    this.interval = interval;
    this.finder =
        new TableFinder(
            new RegistryHttp(TIMEOUT, new RequestRateLimiter(requestsPerMinute, System::nanoTime)));
  }

  /** Return the result so far. Never blocks. */
  synchronized TableLookupResult lookUp(final TableCatalog catalog, final String table) {
    final Lookup lookup = new Lookup(catalog, table);
    State state = lookups.get(lookup);
    if (state == null) {
      if (isClosed || lookups.size() >= MAX_LOOKUPS) {
        return TableLookupResult.unknown("too many tables are looked up");
      }
      state = new State();
      lookups.put(lookup, state);
      schedule(lookup, Duration.ZERO);
    }
    state.lastRequestedAt = System.nanoTime();
    if (state.answer != null) {
      return state.answer;
    }
    return state.lastRequestedAt - state.since < PENDING_TIMEOUT.toNanos()
        ? TableLookupResult.PENDING
        : TableLookupResult.unknown("the catalog at " + catalog + " has not answered yet");
  }

  private void schedule(final Lookup lookup, final Duration delay) {
    if (thread == null) {
      thread = new ScheduledThreadPoolExecutor(1, TableLookups::newThread);
      thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }
    thread.schedule(() -> attempt(lookup), delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  private static Thread newThread(final Runnable work) {
    final Thread thread = new Thread(work, "connect-lineage-tables");
    thread.setDaemon(true);
    thread.setContextClassLoader(TableLookups.class.getClassLoader());
    return thread;
  }

  private void attempt(final Lookup lookup) {
    if (isExpired(lookup)) {
      return;
    }
    try {
      settle(
          lookup,
          finder
              .find(lookup.catalog, lookup.table)
              .map(TableLookupResult::of)
              .orElse(TableLookupResult.MISSING));
    } catch (final RegistryException e) {
      fail(lookup, e.getMessage());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (final RuntimeException | StackOverflowError e) {
      // The exception's message may quote the request with its credentials.
      fail(lookup, "the request failed with " + e.getClass().getName());
    }
  }

  private synchronized boolean isExpired(final Lookup lookup) {
    final State state = lookups.get(lookup);
    if (isClosed || state == null) {
      return true;
    }
    if (System.nanoTime() - state.lastRequestedAt > IDLE_EXPIRY.toNanos()) {
      lookups.remove(lookup);
      return true;
    }
    return false;
  }

  private synchronized void settle(final Lookup lookup, final TableLookupResult answer) {
    final State state = lookups.get(lookup);
    if (isClosed || state == null) {
      return;
    }
    state.answer = answer;
    state.isFailureLogged = false;
    schedule(lookup, interval);
  }

  private synchronized void fail(final Lookup lookup, final String why) {
    final State state = lookups.get(lookup);
    if (isClosed || state == null) {
      return;
    }
    if (!state.isFailureLogged) {
      state.isFailureLogged = true;
      LOG.warn("The columns of table {} cannot be read: {}", lookup.table, why);
    }
    if (state.answer == null || state.answer.note() != null) {
      state.answer = TableLookupResult.unknown(why);
    }
    schedule(lookup, interval);
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    if (thread != null) {
      thread.shutdownNow();
    }
  }
}
