// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerIdTest {
  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:8083, , , 127.0.0.1:8083",
    "'https://[::1]:8443,http://b:2', , , b:2",
    "'https://[::1]:8443', , , [::1]:8443",
    "http://0.0.0.0:8083, connect, , connect:8083",
    "http://:8083, connect, 18083, connect:18083",
    "http://:8083, '10.0.0.1 ', , 10.0.0.1:8083",
  })
  void derivesTheAdvertisedAddress(
      final String listeners, final String host, final String port, final String expected) {
    final Map<String, String> properties = new HashMap<>();
    properties.put("listeners", listeners);
    properties.put("rest.advertised.host.name", host);
    properties.put("rest.advertised.port", port);
    assertThat(WorkerId.of(new WorkerProperties(properties))).isEqualTo(expected);
  }
}
