// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

/** Which way a connector carries data. */
public enum ConnectorType {
  SOURCE,
  SINK
}
