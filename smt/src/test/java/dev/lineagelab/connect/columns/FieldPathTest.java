// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.kafka.connect.transforms.field.FieldSyntaxVersion;
import org.apache.kafka.connect.transforms.field.SingleFieldPath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldPathTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"a", "a.b", "a.b.c", "`a.b`.c", "a.`b.c`", "`a`", "a.", ".a", "`a`b`.c", "a`b.c"})
  void parsesPathsLikeKafka(final String path) {
    final SingleFieldPath kafka = new SingleFieldPath(path, FieldSyntaxVersion.V2);
    assertThat(kafka.toString())
        .isEqualTo(
            "SingleFieldPath{version=V2, path=" + String.join(".", FieldPath.parse(path)) + "}");
  }

  @Test
  void rejectsAnUnclosedBacktick() {
    assertThatThrownBy(() -> FieldPath.parse("`a.b"))
        .isInstanceOf(UnusableOptionException.class)
        .hasMessageContaining("backtick");
  }
}
