// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.program;

/** Ends a program whose job has no known lineage. An error, so that programs do not catch it. */
public final class UnknownLineageError extends Error {
  private static final long serialVersionUID = 1L;

  UnknownLineageError(final String reason) {
    super("the lineage of the job is not known: " + reason, null, false, false);
  }
}
