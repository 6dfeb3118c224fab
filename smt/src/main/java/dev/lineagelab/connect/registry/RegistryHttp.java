// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.config.types.Password;

/**
 * Asks a registry, whatever there may be in its place: an answer has to be there as a whole within
 * a time and a size, and no redirection is followed, which would take the credentials elsewhere.
 */
final class RegistryHttp {
  /** A schema of a thousand columns has 100 kB. */
  static final int MAX_BYTES = 4 << 20;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int NOT_FOUND = 404;

  private final Duration timeout;
  private final RequestRateLimiter budget;
  private HttpClient client;

  /** Opens nothing yet: the JDK's client has a thread from its beginning. Used by one thread. */
  RegistryHttp(final Duration timeout, final RequestRateLimiter budget) {
    this.timeout = timeout;
    this.budget = budget;
  }

  /**
   * Reads an address, after waiting until one more request may be made.
   *
   * @return empty where there is nothing of that name
   * @throws RegistryException there was no answer, or none that is JSON
   * @throws InterruptedException the plugin ends
   */
  Optional<JsonNode> get(final String address, final Password authorization)
      throws RegistryException, InterruptedException {
    for (Duration wait = budget.take(); !wait.isZero(); wait = budget.take()) {
      TimeUnit.NANOSECONDS.sleep(wait.toNanos());
    }
    final HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address)).header("Accept", "application/json, */*").GET();
    if (!authorization.value().isEmpty()) {
      request.header("Authorization", authorization.value());
    }
    final HttpResponse<byte[]> response = send(address, request.build());
    if (response.statusCode() == NOT_FOUND) {
      return Optional.empty();
    }
    if (response.statusCode() / 100 != 2) {
      throw RegistryException.passing(
          "GET " + address + " was answered " + response.statusCode(), null);
    }
    try {
      return Optional.of(JSON.readTree(response.body()));
    } catch (final IOException e) {
      throw RegistryException.passing("GET " + address + " was answered with no JSON", e);
    }
  }

  /** The request's own timeout ends with the headers: a body that trickles would have no end. */
  private HttpResponse<byte[]> send(final String address, final HttpRequest request)
      throws RegistryException, InterruptedException {
    if (client == null) {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .followRedirects(HttpClient.Redirect.NEVER)
              .connectTimeout(timeout)
              .build();
    }
    final CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(request, headers -> new LimitedBodySubscriber(MAX_BYTES));
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (final ExecutionException e) {
      throw RegistryException.passing("GET " + address + " failed: " + e.getCause(), e);
    } catch (final TimeoutException e) {
      throw RegistryException.passing(
          "GET " + address + " was not answered within " + timeout.toMillis() + " ms", e);
    } finally {
      answer.cancel(true);
    }
  }
}
