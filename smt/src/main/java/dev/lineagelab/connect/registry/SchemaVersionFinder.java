// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.lineagelab.connect.columns.SchemaFields;
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
import org.apache.kafka.connect.data.Schema;

/**
 * Finds versions of a subject by their columns. The content of a version never changes and is
 * cached.
 */
final class SchemaVersionFinder {
  /** Maximum number of versions to compare, newest first. */
  private static final int MAX_COMPARED_VERSIONS = 20;

  private static final int MAX_CACHED_VERSIONS = 1000;
  private static final String AVRO = "AVRO";

  private final RegistryHttp http;
  private final Map<String, Content> cache =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(final Map.Entry<String, Content> eldest) {
          return size() > MAX_CACHED_VERSIONS;
        }
      };

  /**
   * Content of a version.
   *
   * @param connect schema of the records that a converter reads
   * @param fields columns of a topic with this schema; empty if unknown
   */
  private record Content(RegisteredSchema schema, Schema connect, List<Field> fields) {
    private static Content of(final RegisteredSchema schema, final JsonNode avro)
        throws UnsupportedSchemaException {
      final Schema connect = AvroSchemaReader.toConnect(avro);
      final SymbolicRecord record = SymbolicRecord.initial("");
      return new Content(
          schema,
          connect,
          SchemaFields.ofTopic(SchemaRefinement.refine(record, null, connect)).orElse(List.of()));
    }
  }

  SchemaVersionFinder(final RegistryHttp http) {
    this.http = http;
  }

  /**
   * Return the newest version of a subject that has these fields; empty if there is none.
   *
   * @throws RegistryException if the registry cannot answer
   */
  Optional<RegisteredSchema> find(
      final RegistryConfig registry, final String subject, final List<Field> fields)
      throws RegistryException, InterruptedException {
    String unreadable = null;
    int compared = 0;
    for (final Version version : versions(registry, subject)) {
      if (compared++ == MAX_COMPARED_VERSIONS) {
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
      throw RegistryException.permanent(unreadable);
    }
    return Optional.empty();
  }

  /**
   * Return the schema of the latest version of a subject; empty if the subject does not exist.
   *
   * @throws RegistryException if the registry cannot answer, or the schema is not supported
   */
  Optional<Schema> latest(final RegistryConfig registry, final String subject)
      throws RegistryException, InterruptedException {
    final List<Version> versions = versions(registry, subject);
    if (versions.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(content(registry, subject, versions.get(0)).connect);
    } catch (final UnsupportedSchemaException e) {
      throw RegistryException.permanent(e.getMessage());
    }
  }

  /**
   * Version of a subject.
   *
   * @param id null if the list of versions omits it
   * @param type schema type; Avro if the list of versions omits it
   */
  private record Version(String name, String id, String type, long order) {}

  /** Return all versions, newest first; empty if the subject does not exist. */
  private List<Version> versions(final RegistryConfig registry, final String subject)
      throws RegistryException, InterruptedException {
    final String address = RegistryPaths.versions(registry, subject);
    final Optional<JsonNode> answer = http.get(address, registry.authorization(), registry.tls());
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
    final Content known = cache.get(address);
    if (known != null) {
      return known;
    }
    requireAvro(version.type);
    final JsonNode answer =
        http.get(address, registry.authorization(), registry.tls())
            .orElseThrow(() -> RegistryException.retriable("GET " + address + ": not found", null));
    final Content read =
        registry.api() == RegistryConfig.Api.CONFLUENT
            ? confluent(subject, version, answer)
            : Content.of(new RegisteredSchema(subject, version.name, version.id), answer);
    cache.put(address, read);
    return read;
  }

  private static Content confluent(
      final String subject, final Version version, final JsonNode answer)
      throws UnsupportedSchemaException {
    requireAvro(answer.path("schemaType").asText(AVRO));
    return Content.of(
        new RegisteredSchema(subject, version.name, answer.path("id").asText(null)),
        AvroSchemaReader.parse(answer.path("schema").asText()));
  }

  private static void requireAvro(final String type) throws UnsupportedSchemaException {
    if (!AVRO.equals(type)) {
      throw new UnsupportedSchemaException("schemas of type " + type + " are not compared");
    }
  }
}
