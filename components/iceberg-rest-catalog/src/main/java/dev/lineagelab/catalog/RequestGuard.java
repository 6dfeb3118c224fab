// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import dev.lineagelab.rest.RequestPolicy;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refuses requests of pages of other origins with status 403 and an error of the catalog API. */
final class RequestGuard extends HttpFilter {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(RequestGuard.class);

  private final transient RequestPolicy policy;

  RequestGuard(final RequestPolicy policy) {
    this.policy = policy;
  }

  @Override
  protected void doFilter(
      final HttpServletRequest request, final HttpServletResponse response, final FilterChain chain)
      throws IOException, ServletException {
    final Optional<String> refusal =
        policy.refusal(
            request.getHeader("Host"),
            request.getHeader("Origin"),
            request.getHeader("Sec-Fetch-Site"),
            request.getHeader("Sec-Fetch-Mode"));
    if (refusal.isEmpty()) {
      chain.doFilter(request, response);
      return;
    }
    LOG.warn("{} request refused: {}", request.getMethod(), refusal.get());
    response.setStatus(HttpServletResponse.SC_FORBIDDEN);
    response.setContentType("application/json");
    response
        .getWriter()
        .write(
            """
            {"error":{"message":"Refused: %s.","type":"ForbiddenException","code":403}}"""
                .formatted(refusal.get()));
  }
}
