// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * REST extension of Kafka Connect that refuses requests of other pages.
 *
 * <p>The names of the worker are {@code rest.advertised.host.name}, to which other workers forward
 * requests, and those of {@code rest.guard.hosts}, separated by commas.
 */
public final class ConnectRequestGuard implements ConnectRestExtension {
  private static final String HOSTS = "rest.guard.hosts";
  private static final String ADVERTISED = "rest.advertised.host.name";
  private static final Logger LOG = LoggerFactory.getLogger(ConnectRequestGuard.class);

  private RequestPolicy policy = new RequestPolicy(List.of());

  @Override
  public void configure(Map<String, ?> settings) {
    List<String> hosts = new ArrayList<>(List.of(text(settings, HOSTS).split(",")));
    hosts.add(text(settings, ADVERTISED));
    policy =
        new RequestPolicy(
            hosts.stream().map(String::trim).filter(host -> !host.isEmpty()).toList());
  }

  @Override
  public void register(ConnectRestExtensionContext context) {
    context.configurable().register(new Filter(policy));
  }

  @Override
  public void close() {}

  @Override
  public String version() {
    return Objects.toString(getClass().getPackage().getImplementationVersion(), "unknown");
  }

  private static String text(Map<String, ?> settings, String name) {
    return Objects.toString(settings.get(name), "");
  }

  /** Answers refused requests itself, before a resource is looked up. */
  @PreMatching
  static final class Filter implements ContainerRequestFilter {
    private final RequestPolicy policy;

    Filter(RequestPolicy policy) {
      this.policy = policy;
    }

    @Override
    public void filter(ContainerRequestContext request) {
      policy
          .refusal(
              request.getHeaderString("Host"),
              request.getHeaderString("Origin"),
              request.getHeaderString("Sec-Fetch-Site"),
              request.getHeaderString("Sec-Fetch-Mode"))
          .ifPresent(
              reason -> {
                LOG.warn("{} request refused: {}", request.getMethod(), reason);
                request.abortWith(
                    Response.status(Response.Status.FORBIDDEN)
                        .type(MediaType.APPLICATION_JSON_TYPE)
                        .entity("{\"error_code\":403,\"message\":\"Refused: " + reason + ".\"}")
                        .build());
              });
    }
  }
}
