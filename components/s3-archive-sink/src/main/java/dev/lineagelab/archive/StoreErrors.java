// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.connect.errors.ConnectException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/** Translation of SDK errors into transient errors and errors that need a fix, with a remedy. */
record StoreErrors(ArchiveConfig config) {
  private static final Set<String> FULL =
      Set.of("XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded");
  private static final Set<String> WRONG_REGION =
      Set.of(
          "AuthorizationHeaderMalformed",
          "PermanentRedirect",
          "IllegalLocationConstraintException");
  private static final Set<String> TRANSIENT =
      Set.of("RequestTimeout", "SlowDown", "OperationAborted", "ConditionalRequestConflict");
  private static final int INSUFFICIENT_STORAGE = 507;
  private static final String CREDENTIALS =
      ArchiveConfig.ACCESS_KEY + " and " + ArchiveConfig.SECRET_KEY;

  /**
   * Return the exception to throw.
   *
   * @param operation that failed, such as "Writing KEY"
   */
  ConnectException explain(final String operation, final SdkException cause) {
    final String url = config.storeUrl().isEmpty() ? "Amazon S3" : config.storeUrl();
    final String attempt = "%s in bucket %s at %s".formatted(operation, config.bucket(), url);
    if (cause instanceof AwsServiceException response) {
      return explainResponse(attempt, response);
    }
    if (String.valueOf(cause.getMessage()).contains("Unable to load credentials")) {
      return new ConnectException(
          ("%s: no credentials. Set %s, or provide credentials to the worker through the default "
                  + "chain of the AWS SDK.")
              .formatted(attempt, CREDENTIALS),
          cause);
    }
    return new StoreUnavailableException(
        "%s: no response (%s). Check that the store is running, and %s."
            .formatted(attempt, rootMessage(cause), ArchiveConfig.STORE_URL),
        cause);
  }

  private ConnectException explainResponse(
      final String attempt, final AwsServiceException response) {
    final int status = response.statusCode();
    final AwsErrorDetails details = response.awsErrorDetails();
    final String code = details == null ? "" : Objects.requireNonNullElse(details.errorCode(), "");
    final String http = ("HTTP " + status + " " + code).trim();
    if (FULL.contains(code) || status == INSUFFICIENT_STORAGE) {
      return new StoreUnavailableException(
          "%s: the store is full (%s). Free space or raise the quota.".formatted(attempt, http),
          response);
    }
    if (status >= 500 || status == 408 || status == 429 || TRANSIENT.contains(code)) {
      return new StoreUnavailableException(
          "%s: the store failed (%s). See its log.".formatted(attempt, http), response);
    }
    return new ConnectException(attempt + ": " + lasting(status, code, http, response), response);
  }

  private String lasting(
      final int status, final String code, final String http, final AwsServiceException response) {
    if (code.equals("NoSuchBucket")) {
      return "the bucket does not exist. Create it, or correct " + ArchiveConfig.BUCKET + ".";
    }
    if (WRONG_REGION.contains(code)) {
      return "the bucket is in another region (%s). Correct %s."
          .formatted(http, ArchiveConfig.REGION);
    }
    if (status == 401 || status == 403 || code.equals("ExpiredToken")) {
      final String key = config.accessKey();
      return ("access denied for %s (%s). Correct %s, or grant s3:GetObject, s3:PutObject and "
              + "s3:ListBucket.")
          .formatted(
              key.isEmpty() ? "the worker's credentials" : "access key " + key, http, CREDENTIALS);
    }
    return "the store rejected the request (%s: %s). Check that %s is the URL of an S3 API."
        .formatted(http, response.getMessage(), ArchiveConfig.STORE_URL);
  }

  private static String rootMessage(final Throwable error) {
    final Throwable root =
        Stream.iterate(error, Objects::nonNull, Throwable::getCause)
            .reduce((outer, inner) -> inner)
            .orElse(error);
    return Objects.requireNonNullElse(root.getMessage(), root.getClass().getSimpleName());
  }
}
