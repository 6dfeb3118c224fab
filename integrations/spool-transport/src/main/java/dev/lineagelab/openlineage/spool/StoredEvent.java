// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import java.nio.file.Path;
import java.util.Set;

/**
 * File of a run event, whose name ends with the event's type.
 *
 * @param file its path
 * @param bytes its size
 */
record StoredEvent(Path file, long bytes) {
  static final String SUFFIX = ".json";

  private static final Set<String> HEARTBEATS = Set.of("RUNNING", "OTHER");

  /** Returns true if the event may be dropped, because the next one of its run repeats it. */
  boolean isHeartbeat() {
    String name = file.getFileName().toString();
    return HEARTBEATS.contains(
        name.substring(name.lastIndexOf('-') + 1, name.length() - SUFFIX.length()));
  }

  @Override
  public String toString() {
    return file.getFileName().toString();
  }
}
