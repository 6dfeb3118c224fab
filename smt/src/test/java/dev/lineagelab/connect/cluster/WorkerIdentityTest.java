// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.runs.ConnectorStatus;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkerIdentityTest {
  private final WorkerIdentity worker = new WorkerIdentity("derived:1");

  private void observe(final String named, final boolean isOwner, final int polls) {
    for (int poll = 0; poll < polls; poll++) {
      worker.observe("orders", ConnectorStatus.of("RUNNING", named, Map.of()), isOwner);
    }
  }

  @Test
  void isCorrectedByTheStatusOfAnOwnConnector() {
    observe("advertised:1", true, 50);
    assertThat(worker.id()).isEqualTo("advertised:1");
  }

  @Test
  void isNotThatOfTheOwnerBeforeARebalance() {
    observe("before:1", true, 10);
    observe("derived:1", true, 1);
    observe("before:1", true, 10);
    assertThat(worker.id()).isEqualTo("derived:1");
  }

  @Test
  void isNotThatOfTheOwnerOfAnotherConnector() {
    observe("other:1", false, 50);
    assertThat(worker.id()).isEqualTo("derived:1");
  }
}
