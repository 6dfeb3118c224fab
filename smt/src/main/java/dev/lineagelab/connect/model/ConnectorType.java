// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

/** Direction in which a connector moves data. */
public enum ConnectorType {
  SOURCE,
  SINK
}
