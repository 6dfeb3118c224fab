// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.apicurio.registry.rest.client.exception.RateLimitedClientException;
import io.apicurio.registry.rest.client.exception.RestClientException;
import io.apicurio.registry.rest.v2.beans.Error;
import java.io.IOException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;

/** Classification of errors of Apicurio's registry client, and of {@link ConfluentApi}. */
final class RegistryErrors {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private RegistryErrors() {}

  /** Return the reason why the registry is unavailable; empty for all other errors. */
  static Optional<String> unavailability(final Throwable error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      final Optional<String> found = ownUnavailability(e);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> ownUnavailability(final Throwable e) {
    if (e instanceof RateLimitedClientException) {
      return Optional.of("rate limit exceeded (HTTP " + TOO_MANY_REQUESTS + ")");
    }
    if (e instanceof RestClientException response) {
      return Optional.ofNullable(response.getError()).flatMap(RegistryErrors::unavailabilityOf);
    }
    if (e instanceof ConfluentApi.StatusException response) {
      return unavailability(response.status(), response.getMessage());
    }
    // A complete response that is not JSON does not come from a registry.
    if (e instanceof IOException && !(e instanceof JsonProcessingException)
        || e instanceof UnresolvedAddressException) {
      return Optional.of(noResponse(e.getClass().getSimpleName(), e.getMessage()));
    }
    return Optional.empty();
  }

  /**
   * Apicurio's client drops the cause of an error without a response ({@link IOException} or
   * interrupt): the error has no code, and its name is the class of the cause.
   */
  private static Optional<String> unavailabilityOf(final Error error) {
    final Integer code = error.getErrorCode();
    if (code == null) {
      return Optional.ofNullable(error.getName()).map(name -> noResponse(name, error.getMessage()));
    }
    return unavailability(code, error.getMessage());
  }

  private static Optional<String> unavailability(final int status, final String message) {
    return status >= SERVER_ERROR || status == TOO_MANY_REQUESTS
        ? Optional.of("HTTP " + status + " (" + message + ")")
        : Optional.empty();
  }

  private static String noResponse(final String name, final String message) {
    return "no response (" + name + (message == null ? "" : ": " + message) + ")";
  }
}
