// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Set;
import org.apache.kafka.connect.errors.ConnectException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * What the store's errors mean: what may pass, and what somebody has to mend.
 *
 * @param url empty for Amazon S3
 * @param accessKey empty where the SDK finds one
 */
record StoreErrors(String bucket, String url, String accessKey) {
  private static final Set<String> FULL =
      Set.of("XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded");
  private static final Set<String> WRONG_REGION =
      Set.of(
          "AuthorizationHeaderMalformed",
          "PermanentRedirect",
          "IllegalLocationConstraintException");
  private static final Set<String> PASSING =
      Set.of("RequestTimeout", "SlowDown", "OperationAborted", "ConditionalRequestConflict");
  private static final int INSUFFICIENT_STORAGE = 507;

  /**
   * The error to throw.
   *
   * @param what was attempted
   */
  ConnectException explain(final String what, final SdkException cause) {
    final String attempt =
        what + " in bucket " + bucket + " at " + (url.isEmpty() ? "Amazon S3" : url);
    if (cause instanceof AwsServiceException answer) {
      return explainAnswer(attempt, answer);
    }
    if (String.valueOf(cause.getMessage()).contains("Unable to load credentials")) {
      return new ConnectException(
          attempt
              + ": there are no credentials. Set "
              + Options.ACCESS_KEY
              + " and "
              + Options.SECRET_KEY
              + ", or give the worker some as the AWS SDK finds them.",
          cause);
    }
    return passing(
        attempt,
        "no answer (" + rootMessage(cause) + ")",
        "Check that the store runs and " + Options.STORE_URL,
        cause);
  }

  private ConnectException explainAnswer(final String attempt, final AwsServiceException answer) {
    final int status = answer.statusCode();
    final String code =
        answer.awsErrorDetails() == null || answer.awsErrorDetails().errorCode() == null
            ? ""
            : answer.awsErrorDetails().errorCode();
    final String told = "HTTP " + status + (code.isEmpty() ? "" : " " + code);
    if (FULL.contains(code) || status == INSUFFICIENT_STORAGE) {
      return passing(
          attempt, "the store is full (" + told + ")", "Free space or raise the quota", answer);
    }
    if (code.equals("NoSuchBucket")) {
      return lasting(
          attempt, "there is no such bucket", "Create it, or correct " + Options.BUCKET, answer);
    }
    if (WRONG_REGION.contains(code)) {
      return lasting(
          attempt,
          "the bucket is in another region (" + told + ")",
          "Correct " + Options.REGION,
          answer);
    }
    if (status == 401 || status == 403 || code.equals("ExpiredToken")) {
      final String who =
          accessKey.isEmpty() ? "the worker's credentials" : "access key " + accessKey;
      return lasting(
          attempt,
          who + " may not do that (" + told + ")",
          "Correct "
              + Options.ACCESS_KEY
              + " and "
              + Options.SECRET_KEY
              + ", or grant s3:GetObject, s3:PutObject and s3:ListBucket",
          answer);
    }
    if (status >= 500 || status == 408 || status == 429 || PASSING.contains(code)) {
      return passing(attempt, "the store failed (" + told + ")", "See the store's log", answer);
    }
    return lasting(
        attempt,
        "the store refuses (" + told + ": " + answer.getMessage() + ")",
        "Check " + Options.STORE_URL + " and that it speaks S3",
        answer);
  }

  private static ConnectException passing(
      final String attempt, final String cause, final String remedy, final Throwable e) {
    return new StoreUnavailableException(attempt + ": " + cause + ". " + remedy + ".", e);
  }

  private static ConnectException lasting(
      final String attempt, final String cause, final String remedy, final Throwable e) {
    return new ConnectException(attempt + ": " + cause + ". " + remedy + ".", e);
  }

  private static String rootMessage(final Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
  }
}
