// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.shaded.netty4.io.netty.buffer.ByteBuf;
import org.apache.flink.shaded.netty4.io.netty.buffer.Unpooled;
import org.apache.flink.shaded.netty4.io.netty.channel.embedded.EmbeddedChannel;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpContent;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpRequest;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpServerCodec;
import org.apache.flink.shaded.netty4.io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlinkRequestGuardTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: localhost:8084",
        "Host: LOCALHOST.:8084",
        "Host: 127.0.0.1:8084",
        "Host: [::1]:8084",
        "Host: 10.0.3.4",
        "Host: flink-jobmanager:8081",
        "X-Other: no host, as in HTTP/1.0",
        "Host: localhost:8084\r\nOrigin: http://localhost:8084",
        "Host: localhost:8084\r\nSec-Fetch-Site: same-origin",
        "Host: localhost:8084\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate",
        "Host: localhost:8084\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate",
      })
  void clientsAndTheOwnPageAreServed(String headers) {
    EmbeddedChannel channel = connection();
    send(channel, headers);
    assertThat(forwarded(channel)).isEqualTo("POST /jars/upload with 4 bytes");
    assertThat(answer(channel)).isEmpty();
    assertThat(channel.isOpen()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: rebound.example.org:8084",
        "Host: flink-jobmanager.example.org",
        "Host: localhost.example.org",
        "Host: 127.0.0.1.example.org",
        "Host: user@localhost",
        "Host: ",
        "Host: localhost:8084\r\nOrigin: http://example.org",
        "Host: localhost:8084\r\nOrigin: null",
        "Host: localhost:8084\r\nOrigin: http://localhost:9000",
        "Host: localhost:8084\r\nOrigin: http://localhost:8084.example.org",
        "Origin: http://localhost:8084",
        "Host: localhost:8084\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors",
      })
  void pagesOfOtherOriginsAreRefusedBeforeTheirBodyIsRead(String headers) {
    EmbeddedChannel channel = connection();
    send(channel, headers);
    assertThat(forwarded(channel)).isEmpty();
    assertThat(answer(channel))
        .startsWith("HTTP/1.1 403 Forbidden\r\n")
        .contains("{\"errors\":[\"Refused: the ");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void pipelinedRequestsBehindARefusedOneAreDropped() {
    EmbeddedChannel channel = connection();
    channel.writeInbound(buffer(request("Host: example.org") + request("Host: localhost")));
    assertThat(answer(channel)).containsOnlyOnce("HTTP/1.1 403 Forbidden");
    assertThat(forwarded(channel)).isEmpty();
  }

  @Test
  void eachRequestOfAConnectionIsChecked() {
    EmbeddedChannel channel = connection();
    send(channel, "Host: localhost");
    assertThat(forwarded(channel)).isNotEmpty();
    send(channel, "Host: localhost\r\nOrigin: http://example.org");
    assertThat(forwarded(channel)).isEmpty();
    assertThat(answer(channel)).contains("403");
  }

  private static EmbeddedChannel connection() {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.ADDRESS, "flink-jobmanager");
    EmbeddedChannel channel = new EmbeddedChannel(new HttpServerCodec());
    channel
        .pipeline()
        .addLast(
            new FlinkRequestGuardFactory().createHandler(configuration, Map.of()).orElseThrow());
    return channel;
  }

  private static void send(EmbeddedChannel channel, String headers) {
    channel.writeInbound(buffer(request(headers)));
  }

  private static String request(String headers) {
    return "POST /jars/upload HTTP/1.1\r\n" + headers + "\r\nContent-Length: 4\r\n\r\nbody";
  }

  private static ByteBuf buffer(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
  }

  private static String forwarded(EmbeddedChannel channel) {
    StringBuilder found = new StringBuilder();
    int bytes = 0;
    for (Object message; (message = channel.readInbound()) != null; ) {
      if (message instanceof HttpRequest request) {
        found.append(request.method()).append(' ').append(request.uri());
      }
      if (message instanceof HttpContent content) {
        bytes += content.content().readableBytes();
      }
      ReferenceCountUtil.release(message);
    }
    return found.isEmpty() ? "" : found + " with " + bytes + " bytes";
  }

  private static String answer(EmbeddedChannel channel) {
    StringBuilder found = new StringBuilder();
    for (ByteBuf part; (part = channel.readOutbound()) != null; part.release()) {
      found.append(part.toString(StandardCharsets.UTF_8));
    }
    return found.toString();
  }
}
