// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.flink.shaded.netty4.io.netty.buffer.Unpooled;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelFutureListener;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandlerContext;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelInboundHandlerAdapter;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.DefaultFullHttpResponse;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.FullHttpResponse;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaderNames;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaderValues;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaders;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpRequest;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpResponseStatus;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpVersion;
import org.apache.flink.shaded.netty4.io.netty.util.ReferenceCountUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refuses requests of one connection before anything of their body is stored. */
final class FlinkRequestGuard extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(FlinkRequestGuard.class);

  private final RequestPolicy policy;
  private boolean refused;

  FlinkRequestGuard(RequestPolicy policy) {
    this.policy = policy;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!refused && message instanceof HttpRequest request) {
      Optional<String> refusal = refusalOf(request);
      refused = refusal.isPresent();
      refusal.ifPresent(reason -> refuse(context, request, reason));
    }
    if (refused) {
      // The connection is closed: what else it carries is of no use to anybody.
      ReferenceCountUtil.release(message);
      return;
    }
    context.fireChannelRead(message);
  }

  private Optional<String> refusalOf(HttpRequest request) {
    HttpHeaders headers = request.headers();
    return policy.refusal(
        headers.get(HttpHeaderNames.HOST),
        headers.get(HttpHeaderNames.ORIGIN),
        headers.get("Sec-Fetch-Site"),
        headers.get("Sec-Fetch-Mode"));
  }

  private static void refuse(ChannelHandlerContext context, HttpRequest request, String reason) {
    LOG.warn("{} request refused: {}", request.method(), reason);
    byte[] body = ("{\"errors\":[\"Refused: " + reason + ".\"]}").getBytes(StandardCharsets.UTF_8);
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.FORBIDDEN, Unpooled.wrappedBuffer(body));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }
}
