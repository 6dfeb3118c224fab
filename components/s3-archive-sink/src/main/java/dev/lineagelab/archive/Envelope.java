// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/** What is archived besides the value. With neither, the value stands alone. */
record Envelope(boolean hasKey, boolean hasHeaders) {

  boolean isNeeded() {
    return hasKey || hasHeaders;
  }
}
