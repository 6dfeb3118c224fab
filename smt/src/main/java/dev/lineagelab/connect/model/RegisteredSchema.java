// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;

/**
 * Where in a schema registry a schema is.
 *
 * @param version within the subject
 * @param id as records carry it; null if unknown
 */
public record RegisteredSchema(String subject, String version, String id) {
  public RegisteredSchema {
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(version, "version");
  }
}
