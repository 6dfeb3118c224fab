// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.types.Password;

/**
 * Schema registry of a converter, from the converter's options.
 *
 * @param url base of the API's paths, without credentials
 * @param authorization value of the header Authorization; empty if none is sent
 * @param tls of an address with https
 * @param group of Apicurio's artifacts
 * @param subjectNames naming of subjects
 * @param idName which of Apicurio's two ids is stored in records
 */
record RegistryConfig(
    Api api,
    String url,
    Password authorization,
    RegistryTls tls,
    String group,
    SubjectNameStrategy subjectNames,
    String idName) {

  /** API of the registry. */
  enum Api {
    CONFLUENT,
    APICURIO_2,
    APICURIO_3
  }

  private static final String CONFLUENT_URL = "schema.registry.url";
  private static final String APICURIO_URL = "apicurio.registry.url";
  private static final String APICURIO_2_PATH = "/apis/registry/v2";

  /**
   * Return the registry of a converter; empty if it has none.
   *
   * @param options of the converter, without prefix
   * @param side which of a record's schemas it converts
   * @throws UnusableOptionException if the registry cannot be queried
   */
  static Optional<RegistryConfig> of(final Map<String, String> options, final Side side) {
    final ConnectorOptions converter = new ConnectorOptions(options);
    final RegistryTls tls = RegistryTls.of(options);
    if (converter.has(APICURIO_URL)) {
      return converter.text(APICURIO_URL).map(url -> apicurio(url, converter, side, tls));
    }
    return converter.text(CONFLUENT_URL).map(url -> confluent(url, converter, side, tls));
  }

  /** Return Confluent's registry, the first of several addresses. */
  private static RegistryConfig confluent(
      final String urls, final ConnectorOptions converter, final Side side, final RegistryTls tls) {
    final RegistryUrl url = RegistryUrl.parse(CONFLUENT_URL, urls.split(",", -1)[0]);
    return new RegistryConfig(
        Api.CONFLUENT,
        url.address(),
        RegistryCredentials.confluent(converter, url.userInfo()),
        tls,
        "",
        SubjectNameStrategy.confluent(converter, side),
        "id");
  }

  private static RegistryConfig apicurio(
      final String given,
      final ConnectorOptions converter,
      final Side side,
      final RegistryTls tls) {
    final RegistryUrl url = RegistryUrl.parse(APICURIO_URL, given);
    final Password authorization = RegistryCredentials.apicurio(converter, url.userInfo());
    final SubjectNameStrategy subjectNames = SubjectNameStrategy.apicurio(converter, side);
    if (url.address().contains("/apis/ccompat/")) {
      return new RegistryConfig(
          Api.CONFLUENT, url.address(), authorization, tls, "", subjectNames, "id");
    }
    final boolean isNew = url.address().contains("/apis/registry/v3");
    // Version 2 of Apicurio's client adds the path if there is none.
    final String address =
        url.address().contains("/apis/") ? url.address() : url.address() + APICURIO_2_PATH;
    return new RegistryConfig(
        isNew ? Api.APICURIO_3 : Api.APICURIO_2,
        address,
        authorization,
        tls,
        converter.text("apicurio.registry.artifact.group-id").orElse("default"),
        subjectNames,
        converter.text("apicurio.registry.use-id").orElse(isNew ? "contentId" : "globalId"));
  }

  @Override
  public String toString() {
    return url;
  }
}
