// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.apicurio.registry.rest.client.exception.RateLimitedClientException;
import io.apicurio.registry.rest.client.exception.RestClientException;
import io.apicurio.registry.rest.v2.beans.Error;
import java.io.IOException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;

/** What the errors of Apicurio's client mean. */
final class RegistryErrors {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private RegistryErrors() {}

  /**
   * What keeps the registry from answering; empty where it has answered, or the error is another.
   */
  static Optional<String> outage(final Throwable error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      final Optional<String> found = outageItself(e);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> outageItself(final Throwable e) {
    if (e instanceof RateLimitedClientException) {
      return Optional.of("it has too many requests (HTTP " + TOO_MANY_REQUESTS + ")");
    }
    if (e instanceof RestClientException answer) {
      return Optional.ofNullable(answer.getError()).flatMap(RegistryErrors::outageOf);
    }
    // An answer that came in whole and is no JSON is none of a registry's.
    if (e instanceof IOException && !(e instanceof JsonProcessingException)
        || e instanceof UnresolvedAddressException) {
      return Optional.of(noAnswer(e.getClass().getSimpleName(), e.getMessage()));
    }
    return Optional.empty();
  }

  /**
   * Apicurio's client drops the cause of an error that came before any answer: an {@link
   * IOException}, or an interrupt. It keeps the name of its class, and has no code.
   */
  private static Optional<String> outageOf(final Error error) {
    final Integer code = error.getErrorCode();
    if (code == null) {
      return Optional.ofNullable(error.getName()).map(name -> noAnswer(name, error.getMessage()));
    }
    return code >= SERVER_ERROR || code == TOO_MANY_REQUESTS
        ? Optional.of("it failed (HTTP " + code + ", " + error.getMessage() + ")")
        : Optional.empty();
  }

  private static String noAnswer(final String name, final String message) {
    return "no answer (" + name + (message == null ? "" : ": " + message) + ")";
  }
}
