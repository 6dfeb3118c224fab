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
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** One bucket over the S3 protocol. */
final class S3ObjectStore implements ObjectStore {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /**
   * One attempt, and all of them: a batch must be through before Kafka takes the task for dead
   * ({@code max.poll.interval.ms}, five minutes).
   */
  private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(60);

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(120);
  private static final Duration MAX_BACKOFF = Duration.ofSeconds(20);

  private final S3Client client;
  private final String bucket;
  private final StoreErrors errors;

  private S3ObjectStore(final S3Client client, final String bucket, final StoreErrors errors) {
    this.client = client;
    this.bucket = bucket;
    this.errors = errors;
  }

  /** A client as the options say; nothing is sent yet. */
  static S3ObjectStore open(final ArchiveConfig config) {
    final S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(config.getString(Options.REGION)))
            .forcePathStyle(config.getBoolean(Options.PATH_STYLE))
            .httpClientBuilder(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(CONNECT_TIMEOUT)
                    .socketTimeout(ATTEMPT_TIMEOUT))
            // Stores that are not Amazon's need not know the checksums of newer SDKs.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .overrideConfiguration(overrides(config));
    final String url = config.getString(Options.STORE_URL);
    if (!url.isEmpty()) {
      builder.endpointOverride(URI.create(url));
    }
    final String accessKey = config.getString(Options.ACCESS_KEY).trim();
    if (!accessKey.isEmpty()) {
      final String secretKey = config.getPassword(Options.SECRET_KEY).value().trim();
      builder.credentialsProvider(
          StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKey, secretKey)));
    }
    final StoreErrors errors = new StoreErrors(config.bucket(), url, accessKey);
    return new S3ObjectStore(builder.build(), config.bucket(), errors);
  }

  private static ClientOverrideConfiguration overrides(final ArchiveConfig config) {
    final BackoffStrategy backoff =
        BackoffStrategy.exponentialDelay(
            Duration.ofMillis(config.getLong(Options.S3_RETRY_BACKOFF_MS)), MAX_BACKOFF);
    return ClientOverrideConfiguration.builder()
        .retryStrategy(
            StandardRetryStrategy.builder()
                .maxAttempts(config.getInt(Options.PART_RETRIES) + 1)
                .backoffStrategy(backoff)
                .throttlingBackoffStrategy(backoff)
                .build())
        .apiCallAttemptTimeout(ATTEMPT_TIMEOUT)
        .apiCallTimeout(CALL_TIMEOUT)
        .build();
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
        "Looking for " + key,
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

  private <T> T attempt(final String what, final Supplier<T> call) {
    try {
      return call.get();
    } catch (final SdkException e) {
      throw errors.explain(what, e);
    }
  }
}
