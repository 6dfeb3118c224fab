// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the job's command-line options. */
class SettingsTest {
  private static final String REQUIRED =
      "--name stats --bootstrap b:9092 --registry http://r --orders o --windows w";

  @Test
  void optionsHaveDefaults() {
    final Settings settings = parse(REQUIRED);

    assertThat(settings.windowing())
        .isEqualTo(
            new Windowing(
                Duration.ofSeconds(5),
                Duration.ofSeconds(5),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                Duration.ofHours(1)));
    assertThat(settings.group()).isEqualTo("stats");
    assertThat(settings.transactions()).isEqualTo("stats");
    assertThat(settings.bounded()).isFalse();
  }

  @Test
  void parsesAllOptions() {
    final Settings settings =
        parse(
            REQUIRED
                + " --window 1min --allowed-lateness 0s --group readers --transactions tx"
                + " --transaction-timeout 30s --bounded true");

    assertThat(settings.windowing().size()).isEqualTo(Duration.ofMinutes(1));
    assertThat(settings.windowing().allowedLateness()).isZero();
    assertThat(settings.group()).isEqualTo("readers");
    assertThat(settings.transactions()).isEqualTo("tx");
    assertThat(settings.transactionTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(settings.bounded()).isTrue();
  }

  @Test
  void errorsNameTheInvalidOption() {
    assertRejected(REQUIRED.replace("--registry http://r", ""), "--registry is missing");
    assertRejected(REQUIRED + " --windo 5s", "unknown option --windo;", "--window");
    assertRejected(REQUIRED + " windows 5s", "unknown option windows;");
    assertRejected(REQUIRED + " --window", "--window has no value");
    assertRejected(REQUIRED + " --window 5s --window 6s", "--window is given twice");
    assertRejected(REQUIRED + " --window long", "--window long is not a duration");
    assertRejected(REQUIRED + " --window 0s", "--window 0s is shorter than 1 ms");
    assertRejected(
        REQUIRED + " --allowed-lateness -5s", "--allowed-lateness -5s is not a duration");
    assertRejected(REQUIRED + " --bounded yes", "--bounded yes is not true or false");
  }

  private static void assertRejected(final String line, final String... problem) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse(line))
        .withMessageStartingWith("Invalid options of the job: ")
        .satisfies(e -> assertThat(e.getMessage()).contains(problem));
  }

  private static Settings parse(final String line) {
    final List<String> args = new ArrayList<>(Arrays.asList(line.trim().split(" +")));
    return Settings.parse(args);
  }
}
