// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads subjects of registries. What a version holds never changes, so each is read once. */
final class SchemaVersionFinder {
  /** Of a subject, the newest. */
  private static final int MAX_COMPARED = 20;

  private static final int MAX_KEPT = 1000;
  private static final String AVRO = "AVRO";

  private final RegistryHttp http;
  private final Map<String, Content> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(final Map.Entry<String, Content> eldest) {
          return size() > MAX_KEPT;
        }
      };

  /**
   * What a version holds.
   *
   * @param fields those of a topic with that schema; null if they cannot be told
   */
  private record Content(RegisteredSchema schema, List<Field> fields) {}

  SchemaVersionFinder(final RegistryHttp http) {
    this.http = http;
  }

  /**
   * The newest version of a subject that has these fields; empty if none has.
   *
   * @throws RegistryException there is no answer
   */
  Optional<RegisteredSchema> find(
      final RegistryConfig registry, final String subject, final List<Field> fields)
      throws RegistryException, InterruptedException {
    String unreadable = null;
    int compared = 0;
    for (final Version version : versions(registry, subject)) {
      if (compared++ == MAX_COMPARED) {
        break;
      }
      try {
        final Content content = content(registry, subject, version);
        if (SchemaMatcher.isSame(content.fields, fields)) {
          return Optional.of(content.schema);
        }
      } catch (final UnsupportedSchemaException e) {
        unreadable = "Version " + version.name + " of " + subject + ": " + e.getMessage();
      }
    }
    if (unreadable != null) {
      throw RegistryException.lasting(unreadable);
    }
    return Optional.empty();
  }

  /**
   * A version of a subject.
   *
   * @param id null where the list does not tell
   * @param type as far as the list tells; else the most usual one
   */
  private record Version(String name, String id, String type, long order) {}

  /** Newest first; none if there is no such subject. */
  private List<Version> versions(final RegistryConfig registry, final String subject)
      throws RegistryException, InterruptedException {
    final String address = RegistryPaths.versions(registry, subject);
    final Optional<JsonNode> answer = http.get(address, registry.authorization());
    final List<Version> versions = new ArrayList<>();
    if (registry.api() == RegistryConfig.Api.CONFLUENT) {
      answer
          .orElseGet(SchemaVersionFinder::nothing)
          .forEach(one -> versions.add(new Version(one.asText(), null, AVRO, one.asLong())));
    } else {
      answer
          .orElseGet(SchemaVersionFinder::nothing)
          .path("versions")
          .forEach(one -> versions.add(version(one, registry)));
    }
    versions.sort(Comparator.comparingLong(Version::order).reversed());
    return versions;
  }

  private static JsonNode nothing() {
    return MissingNode.getInstance();
  }

  private static Version version(final JsonNode one, final RegistryConfig registry) {
    return new Version(
        one.path("version").asText(),
        one.path(registry.idName()).asText(null),
        one.path(registry.api() == RegistryConfig.Api.APICURIO_2 ? "type" : "artifactType")
            .asText(),
        one.path("globalId").asLong());
  }

  private Content content(
      final RegistryConfig registry, final String subject, final Version version)
      throws RegistryException, InterruptedException, UnsupportedSchemaException {
    final String address = RegistryPaths.content(registry, subject, version.name);
    final Content known = kept.get(address);
    if (known != null) {
      return known;
    }
    requireAvro(version.type);
    final JsonNode answer =
        http.get(address, registry.authorization())
            .orElseThrow(() -> RegistryException.passing("GET " + address + ": not found", null));
    final Content read =
        registry.api() == RegistryConfig.Api.CONFLUENT
            ? confluent(subject, version, answer)
            : new Content(new RegisteredSchema(subject, version.name, version.id), fields(answer));
    kept.put(address, read);
    return read;
  }

  private static Content confluent(
      final String subject, final Version version, final JsonNode answer)
      throws UnsupportedSchemaException {
    requireAvro(answer.path("schemaType").asText(AVRO));
    return new Content(
        new RegisteredSchema(subject, version.name, answer.path("id").asText(null)),
        fields(AvroSchemaReader.parse(answer.path("schema").asText())));
  }

  private static void requireAvro(final String type) throws UnsupportedSchemaException {
    if (!AVRO.equals(type)) {
      throw new UnsupportedSchemaException("schemas of type " + type + " are not compared");
    }
  }

  private static List<Field> fields(final JsonNode schema) throws UnsupportedSchemaException {
    final SymbolicRecord record = SymbolicRecord.startingAs("");
    return ColumnOrigins.topicFields(
            SchemaRefinement.refine(record, null, AvroSchemaReader.read(schema)))
        .orElse(List.of());
  }
}
