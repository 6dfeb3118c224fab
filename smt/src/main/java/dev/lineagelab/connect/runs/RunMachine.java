// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.ArrayList;
import java.util.List;

/**
 * The life of a connector's runs, as a pure function: from what is remembered and what is seen now,
 * to what is remembered then and which events are due.
 *
 * <p>A run begins when a task first runs, or fails without ever having run. It ends with the
 * failure of the last task, with stop and delete, and with a configuration that leads to other
 * datasets. A task that starts again, a rebalance, a worker that comes or goes and a pause do not
 * end it.
 */
public final class RunMachine {
  private enum Kind {
    OF_NOW,
    OF_PAST,
    PERIODIC
  }

  private final List<Emission> emissions = new ArrayList<>();
  private final Sighting seen;
  private RunState state;
  private long time;

  private RunMachine(final RunState state, final Sighting seen) {
    this.state = state;
    this.seen = seen;
    this.time = state.lastEvent();
  }

  /** One look further. */
  public static Transition next(final RunState state, final Sighting seen) {
    final RunMachine machine = new RunMachine(state, seen);
    machine.run();
    return new Transition(machine.state, machine.emissions);
  }

  private void run() {
    if (seen.recreated()) {
      if (state.phase().isOpen()) {
        end(EventType.ABORT, "the connector was deleted", Kind.OF_PAST);
      }
      state = state.in(Phase.NONE);
    }
    switch (state.phase()) {
      case NONE -> beginIfItRuns();
      case OPEN, PAUSED -> goOn();
      case FAILED -> recover();
    }
  }

  private void beginIfItRuns() {
    if (seen.condition() == Condition.RUNNING) {
      begin("a task runs");
    } else if (seen.condition() == Condition.FAILED) {
      begin("it was started");
      fail();
    }
  }

  private void begin(final String reason) {
    state = state.raised(Math.max(seen.now(), time + 1)).of(seen.datasets(), seen.config());
    emit(EventType.START, reason, Kind.OF_NOW);
  }

  private void recover() {
    switch (seen.condition()) {
      case RUNNING -> begin("it was started again after a failure");
      case ABSENT, STOPPED, PAUSED -> state = state.in(Phase.NONE);
      default -> {
        // The same failure still, or its tasks are on their way.
      }
    }
  }

  private void goOn() {
    switch (seen.condition()) {
      case ABSENT -> end(EventType.ABORT, "the connector is gone", Kind.OF_PAST);
      case STOPPED -> end(EventType.ABORT, "the connector was stopped", Kind.OF_NOW);
      case FAILED -> fail();
      case INACTIVE -> {
        // Nothing runs that an event could speak of; it will, here or elsewhere.
      }
      case PAUSED -> pause();
      case RUNNING -> proceed();
    }
  }

  private void pause() {
    if (endedByConfig()) {
      return;
    }
    if (state.phase() == Phase.OPEN) {
      state = state.in(Phase.PAUSED);
      emit(EventType.OTHER, "the connector was paused", Kind.OF_NOW);
    } else if (seen.isNews() || seen.isDue()) {
      emit(EventType.OTHER, "the connector is paused", Kind.PERIODIC);
    }
  }

  private void proceed() {
    if (endedByConfig()) {
      begin("the configuration was changed");
      return;
    }
    if (state.phase() == Phase.PAUSED) {
      state = state.in(Phase.OPEN);
      emit(EventType.OTHER, "the connector was resumed", Kind.OF_NOW);
    } else if (seen.isNews()) {
      emit(EventType.RUNNING, "lineage changed", Kind.OF_NOW);
    } else if (seen.isDue()) {
      emit(EventType.RUNNING, "it runs", Kind.PERIODIC);
    }
    state = state.of(seen.datasets(), seen.config());
  }

  /** Datasets that only now show, under the same configuration, are news of the same run. */
  private boolean endedByConfig() {
    if (!seen.isChanged() || seen.datasets().equals(state.datasets())) {
      return false;
    }
    end(EventType.COMPLETE, "the configuration was changed", Kind.OF_PAST);
    return true;
  }

  private void fail() {
    emit(EventType.FAIL, "it failed", Kind.OF_NOW);
    state = state.in(Phase.FAILED);
  }

  private void end(final EventType type, final String reason, final Kind kind) {
    emit(type, reason, kind);
    state = state.in(Phase.NONE);
  }

  /** Times of a run's events rise strictly, so that their order is never in doubt. */
  private void emit(final EventType type, final String reason, final Kind kind) {
    time = Math.max(seen.now(), time + 1);
    state = state.after(time);
    emissions.add(
        new Emission(
            type, state.generation(), time, reason, kind == Kind.PERIODIC, kind == Kind.OF_PAST));
  }
}
