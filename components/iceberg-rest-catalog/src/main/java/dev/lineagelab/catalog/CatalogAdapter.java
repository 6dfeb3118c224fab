// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.HTTPRequest;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTResponse;
import org.apache.iceberg.rest.responses.ConfigResponse;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Catalog adapter that gives clients default properties and logs server errors (5xx) only.
 *
 * <p>{@code RESTCatalogServlet} logs a stack trace for every response that is not a success, such
 * as each check whether a table exists. Its logger is therefore disabled in {@code
 * simplelogger.properties}, and this adapter logs in its place.
 */
final class CatalogAdapter extends RESTCatalogAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogAdapter.class);
  private static final int SERVER_ERROR = 500;

  private final Map<String, String> clientDefaults;

  CatalogAdapter(final Catalog catalog, final Map<String, String> clientDefaults) {
    super(catalog);
    this.clientDefaults = Map.copyOf(clientDefaults);
  }

  private ConfigResponse withDefaults(final ConfigResponse config) {
    final ConfigResponse.Builder builder =
        ConfigResponse.builder()
            .withDefaults(config.defaults())
            .withOverrides(config.overrides())
            .withEndpoints(config.endpoints());
    clientDefaults.forEach(builder::withDefault);
    return builder.build();
  }

  @Override
  protected <T extends RESTResponse> T execute(
      final HTTPRequest request,
      final Class<T> responseType,
      final Consumer<ErrorResponse> errorHandler,
      final Consumer<Map<String, String>> responseHeaders) {
    final T response =
        super.execute(
            request, responseType, error -> report(request, error, errorHandler), responseHeaders);
    return response instanceof final ConfigResponse config
        ? responseType.cast(withDefaults(config))
        : response;
  }

  private static void report(
      final HTTPRequest request,
      final ErrorResponse error,
      final Consumer<ErrorResponse> errorHandler) {
    if (error.code() >= SERVER_ERROR) {
      LOG.error(
          "{} {} failed: {}: {}",
          request.method(),
          request.path(),
          error.type(),
          String.join("\n", error.stack()));
    }
    errorHandler.accept(error);
  }
}
