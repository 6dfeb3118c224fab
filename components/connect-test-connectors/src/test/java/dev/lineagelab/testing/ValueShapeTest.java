// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ValueShapeTest {

  @ParameterizedTest
  @EnumSource
  void valuesMatchASingletonSchema(final ValueShape shape) {
    final SchemaAndValue made = shape.value(3);
    assertThat(made).isEqualTo(shape.value(3));
    if (made.schema() != null) {
      assertThatCode(() -> ConnectSchema.validateValue(made.schema(), made.value()))
          .doesNotThrowAnyException();
    }
    assertThat(shape.value(4).schema()).isSameAs(made.schema());
    assertThat(ValueShape.named(" " + shape.name().toLowerCase() + " ")).isSameAs(shape);
  }
}
