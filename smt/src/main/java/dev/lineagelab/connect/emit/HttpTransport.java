// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

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

/** Posts events to a lineage service: one by one, or as an array where the service takes arrays. */
final class HttpTransport implements Transport {
  private static final int QUOTED = 300;

  /**
   * Answers after which the same event may be accepted later: those that say so, and those that
   * people mend without touching the event, who may be let in, and what path the service has.
   */
  private static final Set<Integer> TEMPORARY = Set.of(401, 403, 404, 408, 429);

  private final HttpTransportSettings settings;
  private final HttpClient client;

  /**
   * Opens no connection yet.
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
      builder.sslContext(Tls.context(settings.tls()));
    }
    this.client = builder.build();
  }

  @Override
  public Sent send(final List<OutgoingEvent> events)
      throws TransportException, InterruptedException {
    if (settings.batchEndpoint().isEmpty()) {
      return sendOneByOne(events);
    }
    final String array =
        events.stream().map(OutgoingEvent::json).collect(Collectors.joining(",", "[", "]"));
    final Answer answer = post(settings.batchEndpoint(), array);
    if (answer.isAccepted()) {
      return new Sent(events.size(), List.of());
    }
    if (answer.isTemporary()) {
      throw new TransportException(answer.text());
    }
    // Something in it is refused: one by one it shows what, and the rest arrives. Those that were
    // taken already are known to the service by their content.
    return sendOneByOne(events);
  }

  private Sent sendOneByOne(final List<OutgoingEvent> events)
      throws TransportException, InterruptedException {
    int accepted = 0;
    final List<String> refused = new ArrayList<>();
    for (final OutgoingEvent event : events) {
      final Answer answer;
      try {
        answer = post(settings.endpoint(), event.json());
      } catch (final TransportException e) {
        return orThrow(new Sent(accepted, refused), e);
      }
      if (answer.isTemporary()) {
        return orThrow(new Sent(accepted, refused), new TransportException(answer.text()));
      }
      if (answer.isAccepted()) {
        accepted++;
      } else {
        refused.add(answer.text());
      }
    }
    return new Sent(accepted, refused);
  }

  /** What was settled before a failure counts; the failure shows again with the next attempt. */
  private static Sent orThrow(final Sent sent, final TransportException failure)
      throws TransportException {
    if (sent.settled() == 0) {
      throw failure;
    }
    return sent;
  }

  private Answer post(final String path, final String body)
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
      return new Answer(address, client.send(request.build(), BodyHandlers.ofString()));
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

  @Override
  public void close() {
    // The JDK's client ends its threads when nothing refers to it any more.
  }

  private record Answer(String address, HttpResponse<String> response) {
    boolean isAccepted() {
      return response.statusCode() / 100 == 2;
    }

    boolean isTemporary() {
      return response.statusCode() / 100 == 5 || TEMPORARY.contains(response.statusCode());
    }

    String text() {
      final String body = response.body();
      return "POST "
          + address
          + " was answered "
          + response.statusCode()
          + ": "
          + (body.length() > QUOTED ? body.substring(0, QUOTED) + "..." : body);
    }
  }
}
