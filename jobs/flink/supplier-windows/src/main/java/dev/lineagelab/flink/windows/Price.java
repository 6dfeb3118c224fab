// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.OptionalLong;

/**
 * A price as a text, as the tables of the lake understand it: a DECIMAL(10, 2), half rounded up.
 */
final class Price {
  static final int SCALE = 2;
  private static final int PRECISION = 10;

  /** To read digits takes time that grows with their square; a price has no use for so many. */
  private static final int MAX_LENGTH = 1000;

  private Price() {}

  /** The price in hundredths; empty where the text is no number, or one that does not fit. */
  static OptionalLong cents(final CharSequence text) {
    if (text == null || text.length() > MAX_LENGTH) {
      return OptionalLong.empty();
    }
    final BigDecimal number;
    try {
      number = new BigDecimal(text.toString().strip());
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
    return cents(number);
  }

  private static OptionalLong cents(final BigDecimal number) {
    // To write 1E+999999999 out in digits would take all memory: looked at before it is rounded.
    final long integerDigits = (long) number.precision() - number.scale();
    if (number.signum() == 0 || integerDigits < -SCALE) {
      return OptionalLong.of(0);
    }
    if (integerDigits > PRECISION - SCALE) {
      return OptionalLong.empty();
    }
    final BigDecimal rounded = number.setScale(SCALE, RoundingMode.HALF_UP);
    return rounded.precision() > PRECISION
        ? OptionalLong.empty()
        : OptionalLong.of(rounded.unscaledValue().longValueExact());
  }
}
