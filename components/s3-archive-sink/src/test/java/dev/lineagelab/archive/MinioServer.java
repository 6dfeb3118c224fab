// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * MinIO server on a free loopback port, shared by all tests of a run. Its executable is the one
 * that the project pins: {@code bin/lab setup --binary minio} provides it, with a download or a
 * build of several minutes if the cache does not have it yet.
 */
final class MinioServer {
  static final String ACCESS_KEY = "archive-test";
  static final String SECRET_KEY = "archive-test-secret";

  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

  private final URI uri;
  private final S3Client client;
  private final Process process;
  private final Path folder;

  private MinioServer(
      final URI uri, final S3Client client, final Process process, final Path folder) {
    this.uri = uri;
    this.client = client;
    this.process = process;
    this.folder = folder;
  }

  /** Injects the server into test constructors; JUnit stops it after the last test class. */
  static final class Extension implements ParameterResolver {
    private record Running(MinioServer server) implements AutoCloseable {
      @Override
      public void close() {
        server.stop();
      }
    }

    @Override
    public boolean supportsParameter(
        final ParameterContext parameter, final ExtensionContext context) {
      return parameter.getParameter().getType() == MinioServer.class;
    }

    @Override
    public Object resolveParameter(
        final ParameterContext parameter, final ExtensionContext context) {
      return context
          .getRoot()
          .getStore(ExtensionContext.Namespace.create(MinioServer.class))
          .getOrComputeIfAbsent(Running.class, key -> new Running(start(program())), Running.class)
          .server();
    }
  }

  URI uri() {
    return uri;
  }

  S3Client client() {
    return client;
  }

  /** Create a bucket with a unique name. */
  String newBucket() {
    final String name = "bucket-" + Long.toString(System.nanoTime(), Character.MAX_RADIX);
    client.createBucket(request -> request.bucket(name));
    return name;
  }

  /** Return the keys with a prefix, sorted. */
  List<String> keys(final String bucket, final String prefix) {
    return client
        .listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))
        .contents()
        .stream()
        .map(S3Object::key)
        .toList();
  }

  byte[] content(final String bucket, final String key) {
    return client.getObjectAsBytes(request -> request.bucket(bucket).key(key)).asByteArray();
  }

  /** Set the quota of a bucket in bytes; 0 for none. */
  void setQuota(final String bucket, final long bytes) {
    final byte[] body =
        "{\"quota\":%d,\"quotatype\":\"hard\"}".formatted(bytes).getBytes(StandardCharsets.UTF_8);
    final SdkHttpRequest request =
        SdkHttpRequest.builder()
            .method(SdkHttpMethod.PUT)
            .uri(uri.resolve("/minio/admin/v3/set-bucket-quota?bucket=" + bucket))
            .build();
    final SignedRequest signed =
        AwsV4HttpSigner.create()
            .sign(
                r ->
                    r.identity(AwsCredentialsIdentity.create(ACCESS_KEY, SECRET_KEY))
                        .request(request)
                        .payload(() -> new ByteArrayInputStream(body))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1"));
    final HttpRequest.Builder http =
        HttpRequest.newBuilder(signed.request().getUri()).PUT(BodyPublishers.ofByteArray(body));
    signed
        .request()
        .forEachHeader(
            (name, values) -> {
              if (!name.equalsIgnoreCase("Host")) {
                values.forEach(value -> http.header(name, value));
              }
            });
    try {
      final HttpResponse<String> answer =
          HttpClient.newHttpClient().send(http.build(), BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IllegalStateException("setting the quota of " + bucket + ": " + answer.body());
      }
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Return the connector options for a bucket on this server. */
  Map<String, String> options(final String bucket) {
    return Map.of(
        ArchiveConfig.BUCKET,
        bucket,
        ArchiveConfig.STORE_URL,
        uri.toString(),
        ArchiveConfig.ACCESS_KEY,
        ACCESS_KEY,
        ArchiveConfig.SECRET_KEY,
        SECRET_KEY);
  }

  /** Return the executable, built or downloaded if the project's cache does not have it. */
  private static Path program() {
    final Path lab =
        Stream.iterate(Path.of("").toAbsolutePath(), Objects::nonNull, Path::getParent)
            .map(folder -> folder.resolve("bin").resolve("lab"))
            .filter(Files::isExecutable)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("not in a checkout: bin/lab not found"));
    try {
      final Process setup =
          new ProcessBuilder(lab.toString(), "setup", "--binary", "minio")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      final String output =
          new String(setup.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (setup.waitFor() != 0) {
        throw new IllegalStateException(lab + " setup --binary minio failed: " + output);
      }
      return Path.of(output.substring(output.lastIndexOf('\n') + 1));
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while setting up MinIO", e);
    }
  }

  private static MinioServer start(final Path program) {
    try {
      final Path folder = Files.createTempDirectory("minio-test-");
      final int port = freePort();
      final URI uri = URI.create("http://127.0.0.1:" + port);
      final ProcessBuilder builder =
          new ProcessBuilder(
                  program.toString(),
                  "server",
                  "--quiet",
                  "--address",
                  uri.getAuthority(),
                  folder.resolve("data").toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("minio.log").toFile());
      builder
          .environment()
          .putAll(
              Map.of(
                  "MINIO_ROOT_USER",
                  ACCESS_KEY,
                  "MINIO_ROOT_PASSWORD",
                  SECRET_KEY,
                  "MINIO_BROWSER",
                  "off",
                  "HOME",
                  folder.toString()));
      final Process process = builder.start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      final S3Client client =
          S3Client.builder()
              .endpointOverride(uri)
              .region(Region.US_EAST_1)
              .forcePathStyle(true)
              .httpClientBuilder(UrlConnectionHttpClient.builder())
              .credentialsProvider(
                  StaticCredentialsProvider.create(
                      AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY)))
              .build();
      final MinioServer server = new MinioServer(uri, client, process, folder);
      server.awaitReady();
      return server;
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitReady() throws IOException {
    final HttpClient http = HttpClient.newHttpClient();
    final HttpRequest health = HttpRequest.newBuilder(uri.resolve("/minio/health/ready")).build();
    final Instant deadline = Instant.now().plus(START_TIMEOUT);
    try {
      while (Instant.now().isBefore(deadline) && process.isAlive()) {
        try {
          if (http.send(health, BodyHandlers.discarding()).statusCode() == 200) {
            return;
          }
        } catch (final ConnectException e) {
          // Not listening yet: retried below.
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    final String log = Files.readString(folder.resolve("minio.log"));
    stop();
    throw new IllegalStateException("MinIO did not become ready at " + uri + ": " + log);
  }

  private void stop() {
    client.close();
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      try (Stream<Path> paths = Files.walk(folder)) {
        for (final Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
