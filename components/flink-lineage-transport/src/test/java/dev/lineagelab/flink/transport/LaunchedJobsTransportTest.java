// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineage.DatasetEvent;
import io.openlineage.client.OpenLineage.JobEvent;
import io.openlineage.client.OpenLineage.RunEvent;
import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.transports.Transport;
import io.openlineage.flink.facets.FlinkJobDetailsFacet;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

class LaunchedJobsTransportTest {
  private static final String PREFIX = "a11ce0";
  private static final String DESCRIBED = PREFIX + "10112233445566778899aabbcc";
  private static final String LAUNCHED = PREFIX + "00112233445566778899aabbcc";
  private static final String OTHER = "b" + LAUNCHED.substring(1);
  private static final OpenLineage OPEN_LINEAGE = new OpenLineage(URI.create("urn:test"));

  private final Recorder recorder = new Recorder();
  private final LaunchedJobsTransport transport = new LaunchedJobsTransport(recorder, PREFIX);

  @ParameterizedTest
  @EnumSource
  void eventsOfJobWhoseLauncherNamesDatasetsAreDropped(EventType type) {
    transport.emit(event(type, DESCRIBED));
    transport.emit(event(type, DESCRIBED), Duration.ofSeconds(1));

    assertThat(recorder.events).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPLETE", "ABORT", "FAIL"})
  void endOfJobWithLauncherIsDropped(EventType type) {
    transport.emit(event(type, LAUNCHED));
    transport.emit(event(type, LAUNCHED), Duration.ofSeconds(1));

    assertThat(recorder.events).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      names = {"COMPLETE", "ABORT", "FAIL"},
      mode = Mode.EXCLUDE)
  void otherEventsOfJobWhoseDatasetsOnlyListenerKnowsPass(EventType type) {
    RunEvent event = event(type, LAUNCHED);

    transport.emit(event);

    assertThat(recorder.events).containsExactly(event);
  }

  @ParameterizedTest
  @EnumSource
  void eventsOfOtherJobsPass(EventType type) {
    RunEvent event = event(type, OTHER);
    RunEvent unknown = event(type, null);

    transport.emit(event);
    transport.emit(unknown, Duration.ofSeconds(1));

    assertThat(recorder.events).containsExactly(event, unknown);
  }

  @Test
  void transportIsClosed() throws Exception {
    transport.close();

    assertThat(recorder.isClosed).isTrue();
  }

  private static RunEvent event(EventType type, String jobId) {
    var facets = OPEN_LINEAGE.newRunFacetsBuilder();
    if (jobId != null) {
      facets.put("flink_job", new FlinkJobDetailsFacet(jobId));
    }
    return OPEN_LINEAGE
        .newRunEventBuilder()
        .eventTime(ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 0, ZoneOffset.UTC))
        .eventType(type)
        .run(OPEN_LINEAGE.newRun(new UUID(1, 2), facets.build()))
        .job(OPEN_LINEAGE.newJobBuilder().namespace("lab").name("orders").build())
        .inputs(
            List.of(OPEN_LINEAGE.newInputDatasetBuilder().namespace("kafka://k").name("i").build()))
        .outputs(
            List.of(
                OPEN_LINEAGE.newOutputDatasetBuilder().namespace("kafka://k").name("o").build()))
        .build();
  }

  private static final class Recorder extends Transport {
    private final List<RunEvent> events = new ArrayList<>();
    private boolean isClosed;

    @Override
    public void emit(RunEvent event) {
      events.add(event);
    }

    @Override
    public void emit(DatasetEvent event) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void emit(JobEvent event) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }
}
