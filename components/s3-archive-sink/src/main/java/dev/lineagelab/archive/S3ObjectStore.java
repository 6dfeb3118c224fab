// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Bucket of Amazon S3 or a compatible store. */
final class S3ObjectStore implements ObjectStore {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /**
   * Limits for one attempt and for a call with all its retries: a batch must complete within {@code
   * max.poll.interval.ms} of the consumer (5 minutes by default).
   */
  private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(120);

  private final S3Client client;
  private final String bucket;
  private final StoreErrors errors;

  private S3ObjectStore(final S3Client client, final String bucket, final StoreErrors errors) {
    this.client = client;
    this.bucket = bucket;
    this.errors = errors;
  }

  /** Create a client; sends no request yet. */
  static S3ObjectStore open(final ArchiveConfig config) {
    final S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(config.getString(ArchiveConfig.REGION)))
            .forcePathStyle(true)
            .httpClientBuilder(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(CONNECT_TIMEOUT)
                    .socketTimeout(ATTEMPT_TIMEOUT))
            // S3-compatible stores may not support the default checksums of newer SDKs.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .overrideConfiguration(
                overrides ->
                    overrides
                        .retryStrategy(RetryMode.STANDARD)
                        .apiCallAttemptTimeout(ATTEMPT_TIMEOUT)
                        .apiCallTimeout(CALL_TIMEOUT));
    if (!config.storeUrl().isEmpty()) {
      builder.endpointOverride(URI.create(config.storeUrl()));
    }
    if (!config.accessKey().isEmpty()) {
      builder.credentialsProvider(
          StaticCredentialsProvider.create(
              AwsBasicCredentials.create(config.accessKey(), config.secretKey())));
    }
    return new S3ObjectStore(builder.build(), config.bucket(), new StoreErrors(config));
  }

  @Override
  public boolean putIfAbsent(final String key, final byte[] content, final String contentType) {
    return attempt(
        "Writing " + key,
        () -> {
          try {
            client.putObject(
                request -> request.bucket(bucket).key(key).ifNoneMatch("*"),
                RequestBody.fromContentProvider(
                    () -> new ByteArrayInputStream(content), content.length, contentType));
            return true;
          } catch (final S3Exception e) {
            if (e.statusCode() == 412) {
              return false;
            }
            throw e;
          }
        });
  }

  @Override
  public Optional<byte[]> get(final String key) {
    return attempt(
        "Reading " + key,
        () -> {
          try {
            return Optional.of(
                client.getObjectAsBytes(request -> request.bucket(bucket).key(key)).asByteArray());
          } catch (final NoSuchKeyException e) {
            return Optional.empty();
          }
        });
  }

  @Override
  public boolean exists(final String key) {
    return attempt(
        "Checking for " + key,
        () -> {
          try {
            client.headObject(request -> request.bucket(bucket).key(key));
            return true;
          } catch (final NoSuchKeyException e) {
            return false;
          }
        });
  }

  @Override
  public Optional<String> first(final String prefix) {
    return attempt(
        "Listing " + prefix,
        () ->
            client
                .listObjectsV2(request -> request.bucket(bucket).prefix(prefix).maxKeys(1))
                .contents()
                .stream()
                .findFirst()
                .map(S3Object::key));
  }

  @Override
  public void close() {
    client.close();
  }

  private <T> T attempt(final String operation, final Supplier<T> call) {
    try {
      return call.get();
    } catch (final SdkException e) {
      throw errors.explain(operation, e);
    }
  }
}
