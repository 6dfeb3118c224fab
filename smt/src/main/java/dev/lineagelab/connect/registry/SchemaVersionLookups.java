// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks registries which version has some columns, on a thread of its own. A converter registers a
 * schema after the transforms have seen it: what is not there yet is asked for again, later and
 * later.
 */
final class SchemaVersionLookups implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SchemaVersionLookups.class);

  private static final int MAX_QUESTIONS = 2000;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** A registry that could not answer is asked again at this interval, for as long as it is. */
  private static final Duration RARELY = Duration.ofMinutes(10);

  /** In which an answer is worth to be waited for. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** Who has not asked for so long has got other columns since, or is gone. */
  private static final Duration FORGOTTEN = Duration.ofMinutes(2);

  /**
   * @param registry where to ask
   * @param fields of the subject's values
   */
  private record Question(RegistryConfig registry, String subject, List<Field> fields) {}

  private static final class State {
    private final long since = System.nanoTime();
    private VersionLookupResult answer = VersionLookupResult.LATE;
    private boolean isSettled;
    private long askedAt = since;
    private int attempts;
  }

  private final List<Duration> delays;
  private final SchemaVersionFinder reader;
  private final Map<Question, State> questions = new LinkedHashMap<>();
  private ScheduledThreadPoolExecutor thread;
  private boolean isClosed;

  /**
   * Starts nothing yet.
   *
   * @param requestsPerMinute to all registries together
   * @param delays between the attempts
   */
  SchemaVersionLookups(final int requestsPerMinute, final List<Duration> delays) {
    this.delays = List.copyOf(delays);
    this.reader =
        new SchemaVersionFinder(
            new RegistryHttp(TIMEOUT, new RequestRateLimiter(requestsPerMinute, System::nanoTime)));
  }

  /** What is known by now. Never waits. */
  synchronized VersionLookupResult ask(
      final RegistryConfig registry, final String subject, final List<Field> fields) {
    final Question question = new Question(registry, subject, fields);
    State state = questions.get(question);
    if (state == null) {
      if (questions.size() >= MAX_QUESTIONS) {
        questions.values().removeIf(SchemaVersionLookups::isForgotten);
      }
      if (isClosed || questions.size() >= MAX_QUESTIONS) {
        return VersionLookupResult.none(
            "Too many topics wait for the registry at " + registry + ".");
      }
      state = new State();
      questions.put(question, state);
      schedule(question, Duration.ZERO);
    }
    state.askedAt = System.nanoTime();
    final boolean isYoung = state.askedAt - state.since < PATIENCE.toNanos();
    return isYoung && !state.isSettled ? VersionLookupResult.PENDING : state.answer;
  }

  private void schedule(final Question question, final Duration delay) {
    if (thread == null) {
      thread = new ScheduledThreadPoolExecutor(1, SchemaVersionLookups::newThread);
      thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }
    thread.schedule(() -> attempt(question), delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  private static Thread newThread(final Runnable work) {
    final Thread thread = new Thread(work, "connect-lineage-registry");
    thread.setDaemon(true);
    thread.setContextClassLoader(SchemaVersionLookups.class.getClassLoader());
    return thread;
  }

  private void attempt(final Question question) {
    if (isForgotten(question)) {
      return;
    }
    try {
      final Optional<RegisteredSchema> found =
          reader.find(question.registry, question.subject, question.fields);
      if (found.isPresent()) {
        settle(question, VersionLookupResult.of(found.get()));
      } else {
        again(
            question,
            "Subject '" + question.subject + "' has no version with the columns that were seen.",
            true);
      }
    } catch (final RegistryException e) {
      again(question, e.getMessage() + ".", e.isFinal());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (final RuntimeException | StackOverflowError e) {
      // Its message may quote what was sent, credentials and all.
      again(question, "Asking failed with " + e.getClass().getName() + ".", false);
    }
  }

  private synchronized boolean isForgotten(final Question question) {
    final State state = questions.get(question);
    if (isClosed || state == null) {
      return true;
    }
    if (isForgotten(state)) {
      questions.remove(question);
      return true;
    }
    return false;
  }

  private static boolean isForgotten(final State state) {
    return System.nanoTime() - state.askedAt > FORGOTTEN.toNanos();
  }

  private synchronized void settle(final Question question, final VersionLookupResult answer) {
    final State state = questions.get(question);
    if (state != null) {
      state.answer = answer;
      state.isSettled = true;
    }
  }

  /**
   * After the last delay it is said, once.
   *
   * @param isAnswered whether the registry would say the same for ever, unless somebody writes
   */
  private synchronized void again(
      final Question question, final String why, final boolean isAnswered) {
    final State state = questions.get(question);
    if (isClosed || state == null) {
      return;
    }
    final int attempt = state.attempts++;
    if (attempt < delays.size()) {
      schedule(question, delays.get(attempt));
    } else {
      if (attempt == delays.size()) {
        LOG.warn(
            "The version of {} in the registry at {} is left out. {}",
            question.subject,
            question.registry,
            why);
      }
      settle(
          question,
          VersionLookupResult.none(
              "The version of '" + question.subject + "' in the registry is not known. " + why));
      if (!isAnswered) {
        schedule(question, RARELY);
      }
    }
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    if (thread != null) {
      thread.shutdownNow();
    }
  }
}
