// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.HTTPRequest;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTResponse;
import org.apache.iceberg.rest.responses.ErrorResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Catalog adapter that logs server errors (5xx) only.
 *
 * <p>{@code RESTCatalogServlet} logs a stack trace for every response that is not a success, such
 * as each check whether a table exists. Its logger is therefore disabled in {@code
 * simplelogger.properties}, and this adapter logs in its place.
 */
final class ErrorLoggingAdapter extends RESTCatalogAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(ErrorLoggingAdapter.class);
  private static final int SERVER_ERROR = 500;

  ErrorLoggingAdapter(final Catalog catalog) {
    super(catalog);
  }

  @Override
  protected <T extends RESTResponse> T execute(
      final HTTPRequest request,
      final Class<T> responseType,
      final Consumer<ErrorResponse> errorHandler,
      final Consumer<Map<String, String>> responseHeaders) {
    return super.execute(
        request, responseType, error -> report(request, error, errorHandler), responseHeaders);
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
