// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.runs.RunPhase;
import dev.lineagelab.connect.runs.RunState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** JSON encoding of the values of the state topic. */
final class StateCodec {
  private static final ObjectMapper JSON = new ObjectMapper();

  private StateCodec() {}

  static String encode(final RunState run) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("generation", run.generation());
    json.put("phase", run.phase().name());
    json.put("datasets", run.datasets());
    json.put("config", run.config());
    json.put("lastEvent", run.lastEvent());
    return json.toString();
  }

  static RunState decodeRun(final String text) throws JsonProcessingException {
    final JsonNode json = JSON.readTree(text);
    return new RunState(
        json.path("generation").asLong(),
        RunPhase.valueOf(json.path("phase").asText()),
        json.path("datasets").asText(),
        json.path("config").asText(),
        json.path("lastEvent").asLong());
  }

  /** Encode the observations of a topic; workers of older versions read the first one. */
  static String encode(final List<TopicObservation> observations) {
    final ObjectNode json = observation(observations.get(0));
    if (observations.size() > 1) {
      final ArrayNode others = json.putArray("others");
      observations.stream().skip(1).map(StateCodec::observation).forEach(others::add);
    }
    return json.toString();
  }

  private static ObjectNode observation(final TopicObservation observation) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.set("key", SchemaCodec.encode(observation.topic().keySchema()));
    json.set("value", SchemaCodec.encode(observation.topic().valueSchema()));
    json.put("alias", observation.topic().alias());
    if (observation.isAlternating()) {
      json.put("alternating", true);
    }
    return json;
  }

  static List<TopicObservation> decodeObservations(
      final String topic, final String text, final long since) throws JsonProcessingException {
    final JsonNode json = JSON.readTree(text);
    final List<TopicObservation> observations = new ArrayList<>();
    observations.add(observation(topic, json, since));
    json.path("others").forEach(other -> observations.add(observation(topic, other, since)));
    return observations;
  }

  private static TopicObservation observation(
      final String topic, final JsonNode json, final long since) {
    return new TopicObservation(
        new ObservedTopic(
            topic,
            SchemaCodec.decode(json.get("key")),
            SchemaCodec.decode(json.get("value")),
            json.path("alias").isTextual() ? json.get("alias").asText() : null),
        since,
        json.path("alternating").asBoolean());
  }

  static String encode(final WorkerCounts counts) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("time", counts.time());
    final ObjectNode connectors = json.putObject("connectors");
    new TreeMap<>(counts.byConnector())
        .forEach(
            (connector, processed) ->
                connectors
                    .putObject(connector)
                    .put("read", processed.read())
                    .put("written", processed.written())
                    .put("failed", processed.failed())
                    .put("skipped", processed.skipped()));
    return json.toString();
  }

  static WorkerCounts decodeCounts(final String text) throws JsonProcessingException {
    final JsonNode json = JSON.readTree(text);
    final Map<String, RecordCounts> counts = new HashMap<>();
    json.path("connectors")
        .properties()
        .forEach(entry -> counts.put(entry.getKey(), recordCounts(entry.getValue())));
    return new WorkerCounts(json.path("time").asLong(), counts);
  }

  private static RecordCounts recordCounts(final JsonNode json) {
    return new RecordCounts(
        json.path("read").asLong(),
        json.path("written").asLong(),
        json.path("failed").asLong(),
        json.path("skipped").asLong());
  }
}
