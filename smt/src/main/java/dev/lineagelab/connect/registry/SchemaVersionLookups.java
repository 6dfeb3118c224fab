// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up versions in registries on its own thread. Converters register a schema after the
 * transforms have seen it, so a version that is not found is looked up again with growing delays.
 */
final class SchemaVersionLookups implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchemaVersionLookups.class);

  private static final int MAX_LOOKUPS = 2000;

  /** Retry interval after the last delay, for registries that are unavailable. */
  private static final Duration UNAVAILABLE_RETRY_INTERVAL = Duration.ofMinutes(10);

  /** Time during which a lookup counts as pending, so that events wait for its result. */
  private static final Duration PENDING_TIMEOUT = Duration.ofSeconds(3);

  /**
   * Lookups that were not requested for this long are dropped: the columns have changed, or the
   * connector no longer exists.
   */
  private static final Duration IDLE_EXPIRY = Duration.ofMinutes(2);

  /**
   * Lookup of the version that has some columns.
   *
   * @param registry registry to query
   * @param fields columns of the subject's values
   */
  private record Lookup(RegistryConfig registry, String subject, List<Field> fields) {}

  private static final class State {
    private final long since = System.nanoTime();
    private VersionLookupResult answer = VersionLookupResult.OVERDUE;
    private boolean isSettled;
    private long lastRequestedAt = since;
    private int attempts;
  }

  private final List<Duration> delays;
  private final SchemaVersionFinder finder;
  private final Map<Lookup, State> lookups = new LinkedHashMap<>();
  private final LookupThread thread = new LookupThread("connect-lineage-registry");
  private boolean isClosed;

  /**
   * Create lookups; the thread starts with the first one.
   *
   * @param requestsPerMinute limit for all registries together
   * @param delays between the attempts
   */
  SchemaVersionLookups(final int requestsPerMinute, final List<Duration> delays) {
    this.delays = List.copyOf(delays);
    this.finder = new SchemaVersionFinder(RegistryHttp.limited(requestsPerMinute));
  }

  /** Return the result so far. Never blocks. */
  synchronized VersionLookupResult lookUp(
      final RegistryConfig registry, final String subject, final List<Field> fields) {
    final Lookup lookup = new Lookup(registry, subject, fields);
    State state = lookups.get(lookup);
    if (state == null) {
      if (lookups.size() >= MAX_LOOKUPS) {
        lookups.values().removeIf(SchemaVersionLookups::isExpired);
      }
      if (isClosed || lookups.size() >= MAX_LOOKUPS) {
        return VersionLookupResult.none(
            "Too many lookups are pending for the registry at " + registry + ".");
      }
      state = new State();
      lookups.put(lookup, state);
      thread.schedule(() -> attempt(lookup), Duration.ZERO);
    }
    state.lastRequestedAt = System.nanoTime();
    final boolean isRecent = state.lastRequestedAt - state.since < PENDING_TIMEOUT.toNanos();
    return isRecent && !state.isSettled ? VersionLookupResult.PENDING : state.answer;
  }

  private void attempt(final Lookup lookup) {
    if (isExpired(lookup)) {
      return;
    }
    try {
      final Optional<RegisteredSchema> found =
          finder.find(lookup.registry, lookup.subject, lookup.fields);
      if (found.isPresent()) {
        settle(lookup, VersionLookupResult.of(found.get()));
      } else {
        retryOrGiveUp(
            lookup,
            "Subject '" + lookup.subject + "' has no version with the observed columns.",
            true);
      }
    } catch (final RegistryException e) {
      retryOrGiveUp(lookup, e.getMessage() + ".", e.isPermanent());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (final RuntimeException | StackOverflowError e) {
      // The exception's message may quote the request with its credentials.
      retryOrGiveUp(lookup, "The request failed with " + e.getClass().getName() + ".", false);
    }
  }

  private synchronized boolean isExpired(final Lookup lookup) {
    final State state = lookups.get(lookup);
    if (isClosed || state == null) {
      return true;
    }
    if (isExpired(state)) {
      lookups.remove(lookup);
      return true;
    }
    return false;
  }

  private static boolean isExpired(final State state) {
    return System.nanoTime() - state.lastRequestedAt > IDLE_EXPIRY.toNanos();
  }

  private synchronized void settle(final Lookup lookup, final VersionLookupResult answer) {
    final State state = lookups.get(lookup);
    if (state != null) {
      state.answer = answer;
      state.isSettled = true;
    }
  }

  /**
   * Schedule the next attempt; after the last delay, log once and report the version as unknown.
   *
   * @param isAnswered true if the registry answered, so that further attempts are useless
   */
  private synchronized void retryOrGiveUp(
      final Lookup lookup, final String why, final boolean isAnswered) {
    final State state = lookups.get(lookup);
    if (isClosed || state == null) {
      return;
    }
    final int attempt = state.attempts++;
    if (attempt < delays.size()) {
      thread.schedule(() -> attempt(lookup), delays.get(attempt));
    } else {
      if (attempt == delays.size()) {
        LOG.warn(
            "No schema version for subject {} found in the registry at {}. {}",
            lookup.subject,
            lookup.registry,
            why);
      }
      settle(
          lookup,
          VersionLookupResult.none(
              "The version of '" + lookup.subject + "' in the registry is unknown. " + why));
      if (!isAnswered) {
        thread.schedule(() -> attempt(lookup), UNAVAILABLE_RETRY_INTERVAL);
      }
    }
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    thread.close();
  }
}
