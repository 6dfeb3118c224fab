// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import static org.apache.kafka.common.config.ConfigDef.LambdaValidator.with;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigException;

/** Validators of single options. */
final class OptionValidators {
  static final Validator URL =
      with(
          OptionValidators::checkUrl,
          () -> "http:// or https:// URL without credentials, or empty");

  static final Validator PATH =
      with((name, value) -> checkPath(name, (String) value), () -> "path that begins with /");

  static final Validator PATH_OR_EMPTY =
      with(
          (name, value) -> {
            if (!((String) value).isEmpty()) {
              checkPath(name, (String) value);
            }
          },
          () -> "path that begins with /, or empty");

  static final Validator KAFKA_NAMESPACE =
      with(OptionValidators::checkKafkaNamespace, () -> "kafka://host:port, or empty");

  static final Validator NAMESPACES =
      with(OptionValidators::checkNamespaces, () -> "found=canonical, comma-separated");

  private OptionValidators() {}

  private static void checkUrl(final String name, final Object value) {
    final String text = (String) value;
    if (text.isEmpty()) {
      return;
    }
    try {
      final URI url = new URI(text);
      final boolean isHttp =
          "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
      if (!isHttp || url.getHost() == null || url.getUserInfo() != null) {
        throw new ConfigException(
            name + ": give scheme (http or https), host and port; credentials have own options");
      }
    } catch (final URISyntaxException e) {
      throw new ConfigException(name + " is no URL: " + e.getReason());
    }
  }

  private static void checkPath(final String name, final String path) {
    if (!path.startsWith("/")) {
      throw new ConfigException(name, path, "begin it with /");
    }
  }

  private static void checkKafkaNamespace(final String name, final Object value) {
    final String namespace = (String) value;
    if (!namespace.isEmpty() && (!namespace.startsWith("kafka://") || namespace.contains(","))) {
      throw new ConfigException(name, namespace, "give kafka:// and one host:port");
    }
  }

  private static void checkNamespaces(final String name, final Object value) {
    for (final Object entry : (List<?>) value) {
      final String text = (String) entry;
      final int at = text.indexOf('=');
      if (at <= 0 || at == text.length() - 1) {
        throw new ConfigException(name, text, "write it as found=canonical");
      }
    }
  }
}
