// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.config.types.Password;

/**
 * HTTP client of registries, which are not trusted: a response must arrive within a timeout and a
 * size limit, and redirects are not followed, because they would receive the credentials.
 */
final class RegistryHttp {
  /** Maximum size of a response, 4 MiB. A schema of a thousand columns takes about 100 kB. */
  static final int MAX_BYTES = 4 << 20;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int NOT_FOUND = 404;

  private final Duration timeout;
  private final RequestRateLimiter rateLimiter;
  private final Map<RegistryTls, HttpClient> clients = new HashMap<>();

  /**
   * Create a client with the usual timeout for use by one thread.
   *
   * @param requestsPerMinute limit for all services together
   */
  static RegistryHttp limited(final int requestsPerMinute) {
    return new RegistryHttp(TIMEOUT, new RequestRateLimiter(requestsPerMinute, System::nanoTime));
  }

  /**
   * Create a client for use by one thread. Connections are opened lazily: the JDK's client starts a
   * thread when it is created.
   */
  RegistryHttp(final Duration timeout, final RequestRateLimiter rateLimiter) {
    this.timeout = timeout;
    this.rateLimiter = rateLimiter;
  }

  /**
   * Send a GET request, once the rate limit permits it.
   *
   * @return empty if the response is 404
   * @throws RegistryException if there is no response, or it is not JSON
   * @throws InterruptedException if the plugin stops
   */
  Optional<JsonNode> get(final String address, final Password authorization, final RegistryTls tls)
      throws RegistryException, InterruptedException {
    for (Duration wait = rateLimiter.tryAcquire();
        !wait.isZero();
        wait = rateLimiter.tryAcquire()) {
      TimeUnit.NANOSECONDS.sleep(wait.toNanos());
    }
    final HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address)).header("Accept", "application/json, */*").GET();
    if (!authorization.value().isEmpty()) {
      request.header("Authorization", authorization.value());
    }
    final HttpResponse<byte[]> response = send(client(tls), address, request.build());
    if (response.statusCode() == NOT_FOUND) {
      return Optional.empty();
    }
    if (response.statusCode() / 100 != 2) {
      throw RegistryException.retriable(
          "GET " + address + " returned " + response.statusCode(), null);
    }
    try {
      return Optional.of(JSON.readTree(response.body()));
    } catch (final IOException e) {
      throw RegistryException.retriable("GET " + address + " did not return JSON", e);
    }
  }

  /** Return the client for TLS options: each has its own certificates. */
  private HttpClient client(final RegistryTls tls) throws RegistryException {
    final HttpClient known = clients.get(tls);
    if (known != null) {
      return known;
    }
    final HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout);
    try {
      final HttpClient created =
          tls.options().isEmpty() ? builder.build() : builder.sslContext(tls.context()).build();
      clients.put(tls, created);
      return created;
    } catch (final UnusableOptionException e) {
      throw RegistryException.retriable(e.getMessage(), e);
    }
  }

  /** The timeout of HttpRequest covers the headers only; a slow body would never time out. */
  private HttpResponse<byte[]> send(
      final HttpClient client, final String address, final HttpRequest request)
      throws RegistryException, InterruptedException {
    final CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(request, headers -> new LimitedBodySubscriber(MAX_BYTES));
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (final ExecutionException e) {
      throw RegistryException.retriable("GET " + address + " failed: " + e.getCause(), e);
    } catch (final TimeoutException e) {
      throw RegistryException.retriable(
          "GET " + address + " timed out after " + timeout.toMillis() + " ms", e);
    } finally {
      answer.cancel(true);
    }
  }
}
