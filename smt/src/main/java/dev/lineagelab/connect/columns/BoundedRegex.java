// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * A regular expression out of a configuration. One that takes for ever on some name is given up:
 * looking at lineage must never take a worker's processor.
 */
public final class BoundedRegex {
  private static final int STEPS = 200_000;

  private final Pattern pattern;

  BoundedRegex(final Pattern pattern) {
    this.pattern = pattern;
  }

  /**
   * Reads an expression.
   *
   * @throws UnusableOptionException it is none
   */
  public static BoundedRegex of(final String text) {
    return of(text, 0);
  }

  /** The same, whatever the case of letters. */
  public static BoundedRegex ignoringCase(final String text) {
    return of(text, Pattern.CASE_INSENSITIVE);
  }

  private static BoundedRegex of(final String text, final int flags) {
    try {
      return new BoundedRegex(Pattern.compile(text, flags));
    } catch (final PatternSyntaxException | StackOverflowError e) {
      // Pattern parses nested groups recursively: a thousand brackets are no reason to fail.
      throw new UnusableOptionException("'" + abridged(text) + "' is no regular expression");
    }
  }

  /**
   * Whether all of a text matches.
   *
   * @throws UnusableOptionException it takes too long
   */
  public boolean matches(final String text) {
    return run(text, Matcher::matches).orElse(false);
  }

  /**
   * Replaces as Kafka's RegexRouter does; empty if the text does not match.
   *
   * @throws UnusableOptionException it takes too long, or the replacement names a group that there
   *     is not
   */
  public Optional<String> replaceAllOf(final String text, final String replacement) {
    return run(
        text,
        matcher -> {
          if (!matcher.matches()) {
            return null;
          }
          try {
            return matcher.replaceFirst(replacement);
          } catch (final IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new UnusableOptionException(
                "'" + abridged(replacement) + "' is no replacement: " + e.getMessage());
          }
        });
  }

  private <T> Optional<T> run(final String text, final Function<Matcher, T> use) {
    try {
      return Optional.ofNullable(
          use.apply(pattern.matcher(new Countdown(text, new int[] {STEPS}))));
    } catch (final OutOfSteps | StackOverflowError e) {
      throw new UnusableOptionException(
          "the regular expression '" + abridged(pattern.pattern()) + "' takes too long");
    }
  }

  private static String abridged(final String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }

  /** A text that can be looked at so many times. */
  private record Countdown(String text, int[] left) implements CharSequence {
    @Override
    public char charAt(final int index) {
      left[0]--;
      if (left[0] < 0) {
        throw new OutOfSteps();
      }
      return text.charAt(index);
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(final int start, final int end) {
      return new Countdown(text.substring(start, end), left);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  private static final class OutOfSteps extends RuntimeException {
    private static final long serialVersionUID = 1L;

    OutOfSteps() {
      super(null, null, false, false);
    }
  }
}
