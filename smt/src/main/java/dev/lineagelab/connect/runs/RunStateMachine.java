// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.ArrayList;
import java.util.List;

/**
 * Life cycle of a connector's runs as a pure function of the stored state and one poll.
 *
 * <p>A run begins when a task first runs, or fails without ever having run. It ends when the last
 * task fails, when the connector is stopped or deleted, and when a changed configuration leads to
 * other datasets. A task restart, a rebalance, a worker that joins or leaves, and a pause do not
 * end it.
 */
public final class RunStateMachine {
  private enum Kind {
    CURRENT,
    PREVIOUS,
    PERIODIC
  }

  private final List<DueEvent> events = new ArrayList<>();
  private final RunInput input;
  private RunState state;
  private long time;

  private RunStateMachine(final RunState state, final RunInput input) {
    this.state = state;
    this.input = input;
    this.time = state.lastEvent();
  }

  /** Apply one poll to the state of a connector's latest run. */
  public static Transition next(final RunState state, final RunInput input) {
    final RunStateMachine machine = new RunStateMachine(state, input);
    machine.step();
    return new Transition(machine.state, machine.events);
  }

  private void step() {
    if (input.isRecreated()) {
      if (state.phase().isOpen()) {
        end(EventType.ABORT, "the connector was deleted", Kind.PREVIOUS);
      }
      state = state.withPhase(RunPhase.NONE);
    }
    switch (state.phase()) {
      case NONE -> startIfActive();
      case OPEN, PAUSED -> continueRun();
      case FAILED -> recover();
    }
  }

  private void startIfActive() {
    if (input.state() == AggregateState.RUNNING) {
      start("a task runs");
    } else if (input.state() == AggregateState.FAILED) {
      start("it was started");
      fail();
    }
  }

  private void start(final String reason) {
    state =
        state
            .nextGeneration(Math.max(input.now(), time + 1))
            .withFingerprints(input.datasets(), input.config());
    emit(EventType.START, reason, Kind.CURRENT);
  }

  private void recover() {
    switch (input.state()) {
      case RUNNING -> start("it was started again after a failure");
      case ABSENT, STOPPED, PAUSED -> state = state.withPhase(RunPhase.NONE);
      default -> {
        // The same failure persists, or tasks are being restarted.
      }
    }
  }

  private void continueRun() {
    switch (input.state()) {
      case ABSENT -> end(EventType.ABORT, "the connector is gone", Kind.PREVIOUS);
      case STOPPED -> end(EventType.ABORT, "the connector was stopped", Kind.CURRENT);
      case FAILED -> fail();
      case INACTIVE -> {
        // Tasks are being reassigned; the run continues here or on another worker.
      }
      case PAUSED -> pause();
      case RUNNING -> keepRunning();
    }
  }

  private void pause() {
    if (endedByConfig()) {
      return;
    }
    if (state.phase() == RunPhase.OPEN) {
      state = state.withPhase(RunPhase.PAUSED);
      emit(EventType.OTHER, "the connector was paused", Kind.CURRENT);
    } else if (input.isChanged() || input.isHeartbeatDue()) {
      emit(EventType.OTHER, "the connector is paused", Kind.PERIODIC);
    }
  }

  private void keepRunning() {
    if (endedByConfig()) {
      start("the configuration was changed");
      return;
    }
    if (state.phase() == RunPhase.PAUSED) {
      state = state.withPhase(RunPhase.OPEN);
      emit(EventType.OTHER, "the connector was resumed", Kind.CURRENT);
    } else if (input.isChanged()) {
      emit(EventType.RUNNING, input.change(), Kind.CURRENT);
    } else if (input.isHeartbeatDue()) {
      emit(EventType.RUNNING, "it runs", Kind.PERIODIC);
    }
    state = state.withFingerprints(input.datasets(), input.config());
  }

  /** Other datasets under an unchanged configuration belong to the same run. */
  private boolean endedByConfig() {
    if (!input.isConfigChanged() || input.datasets().equals(state.datasets())) {
      return false;
    }
    end(EventType.COMPLETE, "the configuration was changed", Kind.PREVIOUS);
    return true;
  }

  private void fail() {
    emit(EventType.FAIL, "it failed", Kind.CURRENT);
    state = state.withPhase(RunPhase.FAILED);
  }

  private void end(final EventType type, final String reason, final Kind kind) {
    emit(type, reason, kind);
    state = state.withPhase(RunPhase.NONE);
  }

  /** Event times of a connector are strictly increasing, so that events have a total order. */
  private void emit(final EventType type, final String reason, final Kind kind) {
    time = Math.max(input.now(), time + 1);
    state = state.withLastEvent(time);
    events.add(
        new DueEvent(
            type, state.generation(), time, reason, kind == Kind.PERIODIC, kind == Kind.PREVIOUS));
  }
}
