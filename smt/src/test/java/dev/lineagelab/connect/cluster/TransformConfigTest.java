// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransformConfigTest {
  @Test
  void findsTheTransformAndItsResolvedOptions() {
    final Map<String, String> config =
        Map.of(
            "transforms", "flat, lineage",
            "transforms.flat.type", "org.apache.kafka.connect.transforms.Flatten$Value",
            "transforms.lineage.type", TransformConfig.TRANSFORM,
            "transforms.lineage.datasets", "t -> s3://b|n",
            "transforms.lineage.transport.auth.api.key", "${file:/secrets:key}");
    assertThat(TransformConfig.of(config))
        .contains(
            new TransformConfig(
                "lineage", Map.of("type", TransformConfig.TRANSFORM, "datasets", "t -> s3://b|n")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev.lineagelab.connect.OpenLineageTransform",
        "OpenLineageTransform",
        " OpenLineageTransform "
      })
  void findsTheTransformByEachNameThatConnectAccepts(final String type) {
    assertThat(
            TransformConfig.of(Map.of("transforms", "any", "transforms.any.type", type))
                .map(TransformConfig::alias))
        .contains("any");
  }

  @Test
  void transformsOfOtherPluginsAreNotItsOwn() {
    final String other = "io.debezium.transforms.openlineage.OpenLineage";
    assertThat(TransformConfig.of(Map.of("transforms", "any", "transforms.any.type", other)))
        .isEmpty();
  }

  @Test
  void isEmptyWithoutTheTransform() {
    assertThat(TransformConfig.of(Map.of("transforms", "flat"))).isEmpty();
    assertThat(TransformConfig.of(Map.of())).isEmpty();
  }

  @Test
  void minimalConfigHasTypeAndOptionsOfTheTransform() {
    assertThat(TransformConfig.minimalConfig(Map.of("datasets", "t -> s3://b|n")))
        .isEqualTo(
            Map.of(
                "transforms.lineage.type",
                TransformConfig.TRANSFORM,
                "transforms.lineage.datasets",
                "t -> s3://b|n"));
  }
}
