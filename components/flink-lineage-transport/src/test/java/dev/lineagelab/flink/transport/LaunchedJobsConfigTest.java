// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.OpenLineageConfig;
import io.openlineage.client.transports.HttpConfig;
import io.openlineage.client.transports.TransportFactory;
import io.openlineage.flink.config.FlinkOpenLineageConfig;
import io.openlineage.flink.shaded.com.fasterxml.jackson.core.type.TypeReference;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LaunchedJobsConfigTest {
  private static final String HTTP =
      """
      transport:
        type: launched-jobs
        jobIdPrefix: a11ce0
        transport: {type: http, url: "http://127.0.0.1:1", timeoutInMillis: 2000}
      """;
  private static final String KEY =
      """
      transport:
        type: launched-jobs
        transport: {type: http, auth: {type: api_key, apiKey: secret}}
      """;

  @Test
  void propertiesOfFileAndOfFlinkAreMerged() {
    LaunchedJobsConfig merged = config(read(KEY).mergeWith(read(HTTP)));

    assertThat(merged.getJobIdPrefix()).isEqualTo("a11ce0");
    HttpConfig http = (HttpConfig) merged.getTransport();
    assertThat(http.getUrl()).hasToString("http://127.0.0.1:1");
    assertThat(http.getTimeoutInMillis()).isEqualTo(2000);
    assertThat(http.getAuth().getToken()).isEqualTo("Bearer secret");
  }

  @Test
  void transportIsBuilt() {
    assertThat(new TransportFactory(config(read(HTTP))).build())
        .isInstanceOf(LaunchedJobsTransport.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "jobIdPrefix: ''",
        "jobIdPrefix: A11CE0",
        "jobIdPrefix: a11",
        "jobIdPrefix: launched"
      })
  void invalidPrefixIsRefused(String property) {
    LaunchedJobsConfig config = config(read(HTTP.replace("jobIdPrefix: a11ce0", property)));

    assertThatThrownBy(() -> new TransportFactory(config).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("openlineage.transport.jobIdPrefix is")
        .hasMessageContaining("FLINK_JOB_ID_PREFIX");
  }

  @Test
  void missingTransportIsRefused() {
    LaunchedJobsConfig config = config(read(HTTP.replaceAll("(?m)^ *transport: \\{.*$", "")));

    assertThatThrownBy(() -> new TransportFactory(config).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("openlineage.transport.transport.type");
  }

  private static FlinkOpenLineageConfig read(String yaml) {
    return OpenLineageClientUtils.loadOpenLineageConfigYaml(
        new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)), new TypeReference<>() {});
  }

  private static LaunchedJobsConfig config(OpenLineageConfig<?> config) {
    return (LaunchedJobsConfig) config.getTransportConfig();
  }
}
