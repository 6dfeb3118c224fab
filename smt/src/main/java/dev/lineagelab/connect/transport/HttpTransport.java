// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.settings.HttpTransportSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;

/** Posts events to a lineage service, individually or as an array to its batch endpoint. */
final class HttpTransport implements Transport {
  /** Characters of a response body that an error message quotes. */
  private static final int MAX_QUOTED = 300;

  /**
   * Client error statuses after which the same event may be accepted later: timeouts, rate limits,
   * and errors of access or path that an operator can correct.
   */
  private static final Set<Integer> RETRIABLE = Set.of(401, 403, 404, 408, 429);

  private final HttpTransportSettings settings;
  private final HttpClient client;

  /**
   * Create the client without opening a connection.
   *
   * @throws IllegalArgumentException a keystore cannot be read
   */
  HttpTransport(final HttpTransportSettings settings) {
    this.settings = settings;
    final HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(settings.connectTimeout());
    if (settings.tls().isSet()) {
      builder.sslContext(TlsContexts.of(settings.tls()));
    }
    this.client = builder.build();
  }

  @Override
  public SendResult send(final List<OutgoingEvent> events)
      throws TransportException, InterruptedException {
    if (settings.batchEndpoint().isEmpty()) {
      return sendOneByOne(events);
    }
    final String array =
        events.stream().map(OutgoingEvent::json).collect(Collectors.joining(",", "[", "]"));
    final Response response = post(settings.batchEndpoint(), array);
    if (response.isAccepted()) {
      return new SendResult(events.size(), List.of());
    }
    if (response.isRetriable()) {
      throw new TransportException(response.text());
    }
    // Sent individually, only invalid events are rejected. The service deduplicates those of them
    // that it has stored already.
    return sendOneByOne(events);
  }

  private SendResult sendOneByOne(final List<OutgoingEvent> events)
      throws TransportException, InterruptedException {
    int accepted = 0;
    final List<String> rejected = new ArrayList<>();
    for (final OutgoingEvent event : events) {
      final Response response;
      try {
        response = post(settings.endpoint(), event.json());
      } catch (final TransportException e) {
        return orThrow(new SendResult(accepted, rejected), e);
      }
      if (response.isRetriable()) {
        return orThrow(new SendResult(accepted, rejected), new TransportException(response.text()));
      }
      if (response.isAccepted()) {
        accepted++;
      } else {
        rejected.add(response.text());
      }
    }
    return new SendResult(accepted, rejected);
  }

  /** Return what was settled before a failure, which the next attempt meets again; else throw. */
  private static SendResult orThrow(final SendResult result, final TransportException failure)
      throws TransportException {
    if (result.settled() == 0) {
      throw failure;
    }
    return result;
  }

  private Response post(final String path, final String body)
      throws TransportException, InterruptedException {
    final String address = settings.url().replaceAll("/+$", "") + path;
    final byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    final HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(address))
            .timeout(settings.requestTimeout())
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(settings.gzip() ? gzipped(bytes) : bytes));
    if (settings.gzip()) {
      request.header("Content-Encoding", "gzip");
    }
    settings.headers().forEach((name, secret) -> request.header(name, secret.value()));
    try {
      return new Response(address, client.send(request.build(), BodyHandlers.ofString()));
    } catch (final IOException e) {
      throw new TransportException("POST " + address + " failed: " + e, e);
    }
  }

  private static byte[] gzipped(final byte[] bytes) {
    final ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }

  /** Return whether the same event may be accepted after a response with this status. */
  static boolean isRetriable(final int status) {
    return status / 100 == 5 || RETRIABLE.contains(status);
  }

  @Override
  public void close() {
    // The JDK's client stops its threads once it is unreachable.
  }

  private record Response(String address, HttpResponse<String> http) {
    boolean isAccepted() {
      return http.statusCode() / 100 == 2;
    }

    boolean isRetriable() {
      return HttpTransport.isRetriable(http.statusCode());
    }

    String text() {
      final String body = http.body();
      return "POST "
          + address
          + " returned status "
          + http.statusCode()
          + ": "
          + (body.length() > MAX_QUOTED ? body.substring(0, MAX_QUOTED) + "..." : body);
    }
  }
}
