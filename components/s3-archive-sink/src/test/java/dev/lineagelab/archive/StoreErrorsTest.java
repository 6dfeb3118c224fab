// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

class StoreErrorsTest {
  private final StoreErrors errors =
      new StoreErrors(new ArchiveConfig(Map.of(ArchiveConfig.BUCKET, "archive")));

  @ParameterizedTest
  @CsvSource({
    "400, XMinioStorageFull, the store is full (HTTP 400 XMinioStorageFull)",
    "507, '', the store is full (HTTP 507)",
    "500, InternalError, the store failed (HTTP 500 InternalError)",
    "503, SlowDown, the store failed (HTTP 503 SlowDown)",
    "429, '', the store failed (HTTP 429)",
    "409, ConditionalRequestConflict, the store failed (HTTP 409 ConditionalRequestConflict)"
  })
  void retriesTransientErrors(final int status, final String code, final String message) {
    assertThat(explain(response(status, code)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageStartingWith("Writing key in bucket archive at Amazon S3: " + message);
  }

  @ParameterizedTest
  @CsvSource({
    "404, NoSuchBucket, 'the bucket does not exist. Create it, or correct s3.bucket.name.'",
    "301, PermanentRedirect, the bucket is in another region (HTTP 301 PermanentRedirect). Correct",
    "403, AccessDenied, access denied for the worker's credentials (HTTP 403 AccessDenied).",
    "400, ExpiredToken, access denied for the worker's credentials (HTTP 400 ExpiredToken).",
    "400, InvalidArgument, the store rejected the request (HTTP 400 InvalidArgument"
  })
  void failsOnErrorsThatNeedAFix(final int status, final String code, final String message) {
    assertThat(explain(response(status, code)))
        .isInstanceOf(ConnectException.class)
        .isNotInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(message);
  }

  @Test
  void namesTheOptionsForMissingCredentials() {
    assertThat(explain(SdkClientException.create("Unable to load credentials from any provider")))
        .isNotInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(
            "no credentials. Set aws.access.key.id and aws.secret.access.key, or provide");
  }

  private ConnectException explain(final SdkException cause) {
    return errors.explain("Writing key", cause);
  }

  private static SdkException response(final int status, final String code) {
    return S3Exception.builder()
        .statusCode(status)
        .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
        .build();
  }
}
