// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretMaskerTest {
  private static final SecretMasker SECRETS =
      SecretMasker.of(
          Map.of(
              "database.password", "hush-1",
              "aws.secret.access.key", "hush-1-and-more",
              "basic.auth.user.info", "me:hush-2",
              "password.enabled", "true",
              "other.password", "${file:secrets:password}",
              "topics", "orders"));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "no secret of orders|no secret of orders",
        "it is true|it is true",
        "login with hush-1 failed|login with **** failed",
        "hush-1-and-more|****",
        "jdbc:postgresql://u:pw1@db/x|jdbc:postgresql://u:****@db/x",
        "url?user=a&password=pw1&x=1|url?user=a&password=****&x=1",
        "{\"token\": \"abc\"}|{\"token\": \"****\"}",
        "sent me:hush-2|sent ****",
      })
  void masksSecretsAndNothingElse(final String text, final String masked) {
    assertThat(SECRETS.mask(text)).isEqualTo(masked);
  }
}
