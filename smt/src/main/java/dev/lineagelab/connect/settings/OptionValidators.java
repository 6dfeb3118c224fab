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
      with((name, value) -> checkPath(name, (String) value), () -> "path that starts with /");

  static final Validator PATH_OR_EMPTY =
      with(
          (name, value) -> {
            if (!((String) value).isEmpty()) {
              checkPath(name, (String) value);
            }
          },
          () -> "path that starts with /, or empty");

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
            name
                + " must be an http or https URL with a host and without credentials; set these with"
                + " transport.auth.* options");
      }
    } catch (final URISyntaxException e) {
      throw new ConfigException(name + " is not a URL: " + e.getReason());
    }
  }

  private static void checkPath(final String name, final String path) {
    if (!path.startsWith("/")) {
      throw new ConfigException(name, path, "must start with /");
    }
  }

  private static void checkKafkaNamespace(final String name, final Object value) {
    final String namespace = (String) value;
    if (!namespace.isEmpty() && (!namespace.startsWith("kafka://") || namespace.contains(","))) {
      throw new ConfigException(name, namespace, "must be kafka:// followed by one host:port");
    }
  }

  private static void checkNamespaces(final String name, final Object value) {
    for (final Object entry : (List<?>) value) {
      final String text = (String) entry;
      final int at = text.indexOf('=');
      if (at <= 0 || at == text.length() - 1) {
        throw new ConfigException(name, text, "must have the form found=canonical");
      }
    }
  }
}
