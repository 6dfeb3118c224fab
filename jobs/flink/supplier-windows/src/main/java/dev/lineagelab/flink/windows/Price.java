// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.OptionalLong;

/** Parser of price texts into DECIMAL(10, 2), rounded half up, as in the tables of the lake. */
final class Price {
  static final int SCALE = 2;
  private static final int PRECISION = 10;

  /** Upper bound of the text's length: parsing a BigDecimal takes quadratic time. */
  private static final int MAX_LENGTH = 1000;

  private Price() {}

  /** Returns the price in hundredths; empty if the text is not a number or out of range. */
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
    // Check the range before rounding: setScale would expand 1E+999999999 to a billion digits.
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
