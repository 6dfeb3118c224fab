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
 * Logs what is the server's own fault, and only that.
 *
 * <p>The servlet logs a stack trace for every answer that is no success, so that each "does this
 * table exist?" of a client fills the log; its logger is therefore off ({@code
 * simplelogger.properties}), and this takes its place.
 */
final class QuietAdapter extends RESTCatalogAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(QuietAdapter.class);
  private static final int SERVER_ERROR = 500;

  QuietAdapter(final Catalog catalog) {
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
