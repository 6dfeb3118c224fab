// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.io.network.netty.InboundChannelHandlerFactory;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandler;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandlerAdapter;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandlerContext;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpServerCodec;

/**
 * Adds the guard to each connection of a REST server that has this class on its class path.
 *
 * <p>The names of the server are those by which its own clients reach it: {@code rest.address} and
 * {@code jobmanager.rpc.address}.
 */
public final class FlinkRequestGuardFactory implements InboundChannelHandlerFactory {
  @Override
  public int priority() {
    return 100;
  }

  @Override
  public Optional<ChannelHandler> createHandler(
      Configuration configuration, Map<String, String> responseHeaders) {
    List<String> hosts = new ArrayList<>();
    configuration.getOptional(RestOptions.ADDRESS).ifPresent(hosts::add);
    configuration.getOptional(JobManagerOptions.ADDRESS).ifPresent(hosts::add);
    return Optional.of(new Installer(new RequestPolicy(hosts)));
  }

  /**
   * Puts the guard directly behind the HTTP codec: Flink adds handlers behind the one that stores
   * uploaded files.
   */
  private static final class Installer extends ChannelHandlerAdapter {
    private final RequestPolicy policy;

    Installer(RequestPolicy policy) {
      this.policy = policy;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      String codec = context.pipeline().context(HttpServerCodec.class).name();
      context.pipeline().addAfter(codec, null, new FlinkRequestGuard(policy));
      context.pipeline().remove(this);
    }
  }
}
