// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Regular expression from a connector configuration, evaluated within a fixed budget of character
 * reads. Catastrophic backtracking therefore raises an exception instead of occupying a processor
 * of the worker.
 */
public final class BoundedRegex {
  private static final int MAX_CHARACTER_READS = 200_000;

  private final Pattern pattern;

  BoundedRegex(final Pattern pattern) {
    this.pattern = pattern;
  }

  /**
   * Compile an expression.
   *
   * @throws UnusableOptionException if it is not a valid regular expression
   */
  public static BoundedRegex of(final String text) {
    return of(text, 0);
  }

  /** Compile an expression that ignores case. */
  public static BoundedRegex ignoringCase(final String text) {
    return of(text, Pattern.CASE_INSENSITIVE);
  }

  private static BoundedRegex of(final String text, final int flags) {
    try {
      return new BoundedRegex(Pattern.compile(text, flags));
    } catch (final PatternSyntaxException | StackOverflowError e) {
      // Pattern parses nested groups recursively, so deep nesting overflows the stack.
      throw new UnusableOptionException(
          "'" + abridged(text) + "' is not a valid regular expression");
    }
  }

  /**
   * Return true if the expression matches the entire text.
   *
   * @throws UnusableOptionException if the budget is exceeded
   */
  public boolean matches(final String text) {
    return run(text, Matcher::matches).orElse(false);
  }

  /**
   * Replace the text as Kafka's RegexRouter does; empty if the expression does not match the entire
   * text.
   *
   * @throws UnusableOptionException if the budget is exceeded, or the replacement refers to an
   *     unknown group
   */
  public Optional<String> replaceIfMatches(final String text, final String replacement) {
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
                "'" + abridged(replacement) + "' is not a valid replacement: " + e.getMessage());
          }
        });
  }

  private <T> Optional<T> run(final String text, final Function<Matcher, T> use) {
    try {
      return Optional.ofNullable(
          use.apply(pattern.matcher(new BudgetedText(text, new int[] {MAX_CHARACTER_READS}))));
    } catch (final BudgetExceededException | StackOverflowError e) {
      throw new UnusableOptionException(
          "the regular expression '"
              + abridged(pattern.pattern())
              + "' exceeds the evaluation limit");
    }
  }

  private static String abridged(final String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "...";
  }

  /** Text that counts character reads and fails once the budget is spent. */
  private record BudgetedText(String text, int[] left) implements CharSequence {
    @Override
    public char charAt(final int index) {
      left[0]--;
      if (left[0] < 0) {
        throw new BudgetExceededException();
      }
      return text.charAt(index);
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(final int start, final int end) {
      return new BudgetedText(text.substring(start, end), left);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  private static final class BudgetExceededException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BudgetExceededException() {
      super(null, null, false, false);
    }
  }
}
