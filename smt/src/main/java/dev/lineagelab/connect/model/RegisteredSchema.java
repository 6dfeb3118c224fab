// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;

/**
 * Version of a schema in a schema registry.
 *
 * @param version within the subject
 * @param id as stored in records; null if unknown
 */
public record RegisteredSchema(String subject, String version, String id) {
  public RegisteredSchema {
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(version, "version");
  }
}
