// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.connect.errors.DataException;

/** Client of Confluent's API, which most schema registries serve. */
final class ConfluentApi {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String url;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_TIMEOUT)
          .build();

  /**
   * Create a client.
   *
   * @param url root of the API, such as {@code http://registry:8081}
   */
  ConfluentApi(final String url) {
    this.url = url.replaceAll("/+$", "");
  }

  /**
   * Return the text of a schema.
   *
   * @throws DataException the registry has no schema with this id
   * @throws UncheckedIOException the registry did not respond
   * @throws StatusException the registry responded with an error
   */
  String schema(final long id) {
    final JsonNode answer = send(request("/schemas/ids/" + id).GET().build());
    return text(answer, "schema");
  }

  /**
   * Register a schema as a version of a subject, unless it is one; return its id.
   *
   * @throws DataException the registry rejected the schema
   * @throws UncheckedIOException the registry did not respond
   * @throws StatusException the registry responded with an error
   */
  long register(final String subject, final String schema) {
    final String body = JSON.createObjectNode().put("schema", schema).toString();
    final String path = "/subjects/" + URLEncoder.encode(subject, StandardCharsets.UTF_8);
    final JsonNode answer =
        send(request(path + "/versions").POST(BodyPublishers.ofString(body)).build());
    return Long.parseLong(text(answer, "id"));
  }

  private HttpRequest.Builder request(final String path) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .timeout(TIMEOUT)
        .header("Content-Type", MEDIA_TYPE)
        .header("Accept", MEDIA_TYPE + ", application/json");
  }

  private JsonNode send(final HttpRequest request) {
    final HttpResponse<String> response;
    try {
      response = http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new InterruptedIOException("interrupted"));
    }
    if (response.statusCode() / 100 != 2) {
      throw new StatusException(request.uri(), response.statusCode(), response.body());
    }
    try {
      return JSON.readTree(response.body());
    } catch (JsonProcessingException e) {
      throw new DataException("The response of " + request.uri() + " is not JSON", e);
    }
  }

  private String text(final JsonNode answer, final String field) {
    if (!answer.path(field).isValueNode()) {
      throw new DataException("A response of the schema registry at " + url + " has no " + field);
    }
    return answer.path(field).asText();
  }

  /** Response with an error status. Its message has the registry's, which names the cause. */
  static final class StatusException extends DataException {
    private static final long serialVersionUID = 1L;

    private final int status;

    StatusException(final URI uri, final int status, final String body) {
      super("The schema registry responded to %s with status %d: %s".formatted(uri, status, body));
      this.status = status;
    }

    int status() {
      return status;
    }
  }
}
