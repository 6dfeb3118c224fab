// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.program;

import dev.lineagelab.flink.sql.script.Document;

/** Ends a program that is about to submit its job. An error, so that programs do not catch it. */
public final class DescribedError extends Error {
  private static final long serialVersionUID = 1L;

  private final transient Document document;

  DescribedError(final Document document) {
    super(null, null, false, false);
    this.document = document;
  }

  /** Returns the lineage of the job. */
  public Document document() {
    return document;
  }
}
