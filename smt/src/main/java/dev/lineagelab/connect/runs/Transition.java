// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.List;

/** What is remembered from now on, and the events on the way there. */
public record Transition(RunState state, List<Emission> emissions) {
  public Transition {
    emissions = List.copyOf(emissions);
  }
}
