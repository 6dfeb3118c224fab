// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * TLS options of a converter for its registry, under Kafka's names ({@code ssl.truststore.location}
 * and so on). Equal ones share connections.
 */
record RegistryTls(Map<String, String> options) {
  /** TLS with the certificates that Java trusts. */
  static final RegistryTls NONE = new RegistryTls(Map.of());

  /**
   * Prefixes of the options, as Confluent's and Apicurio's clients name them; the last one takes
   * precedence.
   */
  private static final List<String> PREFIXES =
      List.of("", "schema.registry.", "apicurio.registry.request.");

  private static final String TLS = "ssl.";

  /**
   * Return the options of a converter.
   *
   * @throws UnusableOptionException if a value is a reference that only the worker can resolve
   */
  static RegistryTls of(final Map<String, String> options) {
    final ConnectorOptions converter = new ConnectorOptions(options);
    final Map<String, String> found = new HashMap<>();
    for (final String prefix : PREFIXES) {
      options.keySet().stream()
          .filter(name -> name.startsWith(prefix + TLS))
          .forEach(
              name ->
                  converter
                      .text(name)
                      .ifPresent(value -> found.put(name.substring(prefix.length()), value)));
    }
    return found.isEmpty() ? NONE : new RegistryTls(found);
  }

  RegistryTls {
    options = Map.copyOf(options);
  }

  /**
   * Read the stores.
   *
   * @throws UnusableOptionException if a store cannot be read, or an option is invalid
   */
  SSLContext context() {
    final ConfigDef known = new ConfigDef().withClientSslSupport();
    try (DefaultSslEngineFactory factory = new DefaultSslEngineFactory()) {
      factory.configure(new AbstractConfig(known, options, false).values());
      return factory.sslContext();
    } catch (final KafkaException e) {
      throw new UnusableOptionException(
          "the TLS options of the schema registry cannot be used: " + causes(e));
    }
  }

  /** Messages of the causes: the first one says only that a store could not be loaded. */
  private static String causes(final Throwable failure) {
    final StringBuilder text = new StringBuilder();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      text.append(text.isEmpty() ? "" : ": ").append(cause.getMessage());
    }
    return text.toString();
  }

  /** Omits the options, which contain secrets. */
  @Override
  public String toString() {
    return options.isEmpty() ? "TLS as Java trusts" : "TLS with own stores";
  }
}
