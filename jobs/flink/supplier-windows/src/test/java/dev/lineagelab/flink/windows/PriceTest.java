// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of parsing price texts. */
class PriceTest {
  @ParameterizedTest
  @CsvSource({
    "12.50, 1250",
    "7, 700",
    "' 7.1\t', 710",
    "-0.01, -1",
    "1e3, 100000",
    "0.005, 1",
    "-0.005, -1",
    "0.0049, 0",
    "1.00000000000000000001, 100",
    "99999999.99, 9999999999",
    "0e999999999, 0",
    "1e-999999999, 0",
  })
  void roundsNumbersToTwoDecimalPlaces(final String text, final long cents) {
    assertThat(Price.cents(text)).hasValue(cents);
  }

  @ParameterizedTest
  @NullAndEmptySource
  @ValueSource(
      strings = {
        " ",
        "n/a",
        "12,50",
        "free",
        "1.2.3",
        "NaN",
        "Infinity",
        "0x10",
        "1_000",
        "99999999999999.99",
        "100000000",
        "99999999.995",
        "1e999999999",
        "1e99999999999"
      })
  void rejectsOtherTexts(final String text) {
    assertThat(Price.cents(text)).isEmpty();
  }

  @Test
  void rejectsOverlongTexts() {
    assertThat(Price.cents("9".repeat(1_000_000))).isEmpty();
  }

  @Test
  void totalHasTwoDecimalPlaces() {
    assertThat(new SupplierWindow("alder", 0, 5000, 1, 1200).total())
        .isEqualTo(new BigDecimal("12.00"));
  }
}
