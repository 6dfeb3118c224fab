// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.types.Password;

/**
 * A schema registry as a converter's options name it.
 *
 * @param url up to where the paths of its API begin, without credentials
 * @param authorization header of that name; empty if none is sent
 * @param group of Apicurio's artifacts
 * @param subjects how a topic's subject is called
 * @param idName of Apicurio's two ids, the one that records carry
 */
record RegistryConfig(
    Api api,
    String url,
    Password authorization,
    String group,
    SubjectNameStrategy subjects,
    String idName) {

  /** What the registry understands. */
  enum Api {
    CONFLUENT,
    APICURIO_2,
    APICURIO_3
  }

  private static final String CONFLUENT_URL = "schema.registry.url";
  private static final String APICURIO_URL = "apicurio.registry.url";
  private static final String APICURIO_2_PATH = "/apis/registry/v2";

  /**
   * The registry of a converter; empty if it has none.
   *
   * @param options of the converter, without prefix
   * @throws UnusableOptionException it has one that cannot be asked
   */
  static Optional<RegistryConfig> of(final Map<String, String> options) {
    final ConnectorOptions converter = new ConnectorOptions(options);
    if (converter.has(APICURIO_URL)) {
      return converter.text(APICURIO_URL).map(url -> apicurio(url, converter));
    }
    return converter.text(CONFLUENT_URL).map(url -> confluent(url, converter));
  }

  /** Of several addresses the first. */
  private static RegistryConfig confluent(final String urls, final ConnectorOptions converter) {
    final RegistryUrl url = RegistryUrl.parse(CONFLUENT_URL, urls.split(",", -1)[0]);
    return new RegistryConfig(
        Api.CONFLUENT,
        url.address(),
        RegistryCredentials.confluent(converter, url.userInfo()),
        "",
        SubjectNameStrategy.confluent(converter),
        "id");
  }

  private static RegistryConfig apicurio(final String given, final ConnectorOptions converter) {
    final RegistryUrl url = RegistryUrl.parse(APICURIO_URL, given);
    final Password authorization = RegistryCredentials.apicurio(converter, url.userInfo());
    final SubjectNameStrategy subjects = SubjectNameStrategy.apicurio(converter);
    if (url.address().contains("/apis/ccompat/")) {
      return new RegistryConfig(Api.CONFLUENT, url.address(), authorization, "", subjects, "id");
    }
    final boolean isNew = url.address().contains("/apis/registry/v3");
    // The client of version 2 adds the path where none is given.
    final String address =
        url.address().contains("/apis/") ? url.address() : url.address() + APICURIO_2_PATH;
    return new RegistryConfig(
        isNew ? Api.APICURIO_3 : Api.APICURIO_2,
        address,
        authorization,
        converter.text("apicurio.registry.artifact.group-id").orElse("default"),
        subjects,
        converter.text("apicurio.registry.use-id").orElse(isNew ? "contentId" : "globalId"));
  }

  @Override
  public String toString() {
    return url;
  }
}
