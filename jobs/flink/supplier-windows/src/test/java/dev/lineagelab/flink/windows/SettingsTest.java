// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The options of the job. */
class SettingsTest {
  private static final String NEEDED =
      "--name stats --bootstrap b:9092 --registry http://r --orders o --windows w";

  @Test
  void whatIsLeftOutHasADefault() {
    final Settings settings = parse(NEEDED);

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
  void allCanBeGiven() {
    final Settings settings =
        parse(
            NEEDED
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
  void whatIsWrongIsNamed() {
    refused(NEEDED.replace("--registry http://r", ""), "--registry is missing");
    refused(NEEDED + " --windo 5s", "--windo is none of", "--window");
    refused(NEEDED + " windows 5s", "windows is none of");
    refused(NEEDED + " --window", "--window has no value");
    refused(NEEDED + " --window 5s --window 6s", "--window is given twice");
    refused(NEEDED + " --window long", "--window long is no duration");
    refused(NEEDED + " --window 0s", "--window 0s is less than a millisecond");
    refused(NEEDED + " --allowed-lateness -5s", "--allowed-lateness -5s is no duration");
    refused(NEEDED + " --bounded yes", "--bounded yes is not true or false");
  }

  private static void refused(final String line, final String... problem) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parse(line))
        .withMessageStartingWith("Reading the options of the job: ")
        .satisfies(e -> assertThat(e.getMessage()).contains(problem));
  }

  private static Settings parse(final String line) {
    final List<String> args = new ArrayList<>(Arrays.asList(line.trim().split(" +")));
    return Settings.parse(args);
  }
}
