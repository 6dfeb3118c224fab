// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strimzi.api.kafka.model.common.UnknownPropertyPreserving;
import io.strimzi.api.kafka.model.connect.KafkaConnect;
import io.strimzi.api.kafka.model.connect.KafkaConnectSpec;
import io.strimzi.api.kafka.model.connector.KafkaConnector;
import io.strimzi.api.kafka.model.connector.KafkaConnectorSpec;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;

/**
 * Reads resources of Strimzi, a JSON array in standard input, with Strimzi's own classes.
 *
 * <p>Prints a JSON array: of each resource the versions that Strimzi serves, the paths of properties that its classes do
 * not know, and the options that Strimzi does not accept in its {@code config}.
 */
public final class CheckManifest {
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, true);

  public static void main(String[] arguments) throws Exception {
    ArrayNode results = JSON.createArrayNode();
    for (JsonNode resource : JSON.readTree(System.in)) {
      results.add(check(resource));
    }
    System.out.println(JSON.writeValueAsString(results));
  }

  private static ObjectNode check(JsonNode resource) throws Exception {
    ObjectNode result = JSON.createObjectNode();
    ArrayNode unknown = result.putArray("unknown");
    switch (resource.path("kind").asText()) {
      case KafkaConnect.RESOURCE_KIND -> {
        KafkaConnect read = JSON.treeToValue(resource, KafkaConnect.class);
        KafkaConnect.VERSIONS.forEach(result.withArray("versions")::add);
        collectUnknown("spec", read.getSpec(), unknown);
        addForbidden(result, read.getSpec().getConfig(), KafkaConnectSpec.FORBIDDEN_PREFIXES, true);
      }
      case KafkaConnector.RESOURCE_KIND -> {
        KafkaConnector read = JSON.treeToValue(resource, KafkaConnector.class);
        KafkaConnector.VERSIONS.forEach(result.withArray("versions")::add);
        collectUnknown("spec", read.getSpec(), unknown);
        addForbidden(result, read.getSpec().getConfig(), KafkaConnectorSpec.FORBIDDEN_PARAMETERS, false);
      }
      default -> throw new IllegalArgumentException("not a resource of Kafka Connect: " + resource);
    }
    return result;
  }

  /** Adds the paths of unknown properties of a part and of the parts in it. */
  private static void collectUnknown(String path, Object part, ArrayNode unknown) throws Exception {
    if (part instanceof List<?> list) {
      for (Object item : list) {
        collectUnknown(path, item, unknown);
      }
    }
    if (!(part instanceof UnknownPropertyPreserving known)) {
      return;
    }
    known.getAdditionalProperties().keySet().forEach(name -> unknown.add(path + "." + name));
    for (Method getter : part.getClass().getMethods()) {
      boolean isGetter = getter.getName().startsWith("get") && getter.getParameterCount() == 0;
      if (isGetter && !Map.class.isAssignableFrom(getter.getReturnType())) {
        String name = getter.getName().substring("get".length());
        String property = name.substring(0, 1).toLowerCase() + name.substring(1);
        collectUnknown(path + "." + property, getter.invoke(part), unknown);
      }
    }
  }

  private static void addForbidden(ObjectNode result, Map<String, Object> config, String names, boolean arePrefixes) {
    ArrayNode forbidden = result.putArray("forbidden");
    List<String> all = List.of(names.split(", "));
    for (String option : config.keySet()) {
      if (all.stream().anyMatch(name -> arePrefixes ? option.startsWith(name) : option.equals(name))) {
        forbidden.add(option);
      }
    }
  }
}
