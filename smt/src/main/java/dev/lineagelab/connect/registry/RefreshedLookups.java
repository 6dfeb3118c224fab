// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up what others may change on its own thread, and again while it is asked for. While a
 * service does not answer, its last answer stays.
 *
 * @param <K> what is looked up; its text names it in messages
 * @param <V> what is found
 */
final class RefreshedLookups<K, V> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RefreshedLookups.class);

  private static final int MAX_LOOKUPS = 2000;

  /** Time during which a lookup counts as pending, so that events wait for its result. */
  private static final Duration PENDING_TIMEOUT = Duration.ofSeconds(3);

  /** Lookups that were not requested for this long are dropped. */
  private static final Duration IDLE_EXPIRY = Duration.ofMinutes(2);

  /** Service that is asked. */
  interface Source<K, V> {
    /**
     * Ask the service; called by one thread.
     *
     * @return empty if there is none
     * @throws RegistryException if the service cannot answer
     */
    Optional<V> find(K key) throws RegistryException, InterruptedException;
  }

  private final class State {
    private final long since = System.nanoTime();
    private LookupResult<V> answer;
    private long lastRequestedAt = since;
    private boolean isFailureLogged;
  }

  private final Source<K, V> source;
  private final Duration interval;
  private final Map<K, State> lookups = new HashMap<>();
  private final LookupThread thread;
  private boolean isClosed;

  /**
   * Create lookups; the thread starts with the first one.
   *
   * @param thread name of the thread
   * @param interval between two lookups of the same
   */
  RefreshedLookups(final String thread, final Duration interval, final Source<K, V> source) {
    this.thread = new LookupThread(thread);
    this.interval = interval;
    this.source = source;
  }

  /** Return the result so far. Never blocks. */
  synchronized LookupResult<V> lookUp(final K key) {
    State state = lookups.get(key);
    if (state == null) {
      if (isClosed || lookups.size() >= MAX_LOOKUPS) {
        return LookupResult.unknown("too many lookups are pending");
      }
      state = new State();
      lookups.put(key, state);
      thread.schedule(() -> attempt(key), Duration.ZERO);
    }
    state.lastRequestedAt = System.nanoTime();
    if (state.answer != null) {
      return state.answer;
    }
    return state.lastRequestedAt - state.since < PENDING_TIMEOUT.toNanos()
        ? LookupResult.pending()
        : LookupResult.unknown("there is no answer yet about " + key);
  }

  private void attempt(final K key) {
    if (isExpired(key)) {
      return;
    }
    try {
      settle(key, source.find(key).map(LookupResult::of).orElseGet(LookupResult::missing));
    } catch (final RegistryException e) {
      fail(key, e.getMessage());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (final RuntimeException | StackOverflowError e) {
      // The exception's message may quote the request with its credentials.
      fail(key, "the request failed with " + e.getClass().getName());
    }
  }

  private synchronized boolean isExpired(final K key) {
    final State state = lookups.get(key);
    if (isClosed || state == null) {
      return true;
    }
    if (System.nanoTime() - state.lastRequestedAt > IDLE_EXPIRY.toNanos()) {
      lookups.remove(key);
      return true;
    }
    return false;
  }

  private synchronized void settle(final K key, final LookupResult<V> answer) {
    final State state = lookups.get(key);
    if (isClosed || state == null) {
      return;
    }
    state.answer = answer;
    state.isFailureLogged = false;
    thread.schedule(() -> attempt(key), interval);
  }

  private synchronized void fail(final K key, final String why) {
    final State state = lookups.get(key);
    if (isClosed || state == null) {
      return;
    }
    if (!state.isFailureLogged) {
      state.isFailureLogged = true;
      LOG.warn("Cannot look up {}: {}", key, why);
    }
    if (state.answer == null || state.answer.note() != null) {
      state.answer = LookupResult.unknown(why);
    }
    thread.schedule(() -> attempt(key), interval);
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    thread.close();
  }
}
