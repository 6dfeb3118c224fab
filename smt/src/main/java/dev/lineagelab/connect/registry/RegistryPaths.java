// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** URLs of subjects and versions in each registry API. */
final class RegistryPaths {
  private RegistryPaths() {}

  /** Return the URL of all versions of a subject. */
  static String versions(final RegistryConfig registry, final String subject) {
    return switch (registry.api()) {
      case CONFLUENT -> registry.url() + "/subjects/" + encoded(subject) + "/versions";
      // This API cannot sort.
      case APICURIO_2 -> artifact(registry, subject) + "?limit=500";
      case APICURIO_3 -> artifact(registry, subject) + "?orderby=globalId&order=desc&limit=100";
    };
  }

  /** Return the URL of one version's content. */
  static String content(final RegistryConfig registry, final String subject, final String version) {
    return switch (registry.api()) {
      case CONFLUENT -> registry.url() + "/subjects/" + subject + "/versions/" + encoded(version);
      case APICURIO_2 -> artifact(registry, subject) + "/" + encoded(version);
      case APICURIO_3 -> artifact(registry, subject) + "/" + encoded(version) + "/content";
    };
  }

  private static String artifact(final RegistryConfig registry, final String subject) {
    final String group = registry.url() + "/groups/" + encoded(registry.group());
    return group + "/artifacts/" + encoded(subject) + "/versions";
  }

  private static String encoded(final String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
