// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import io.apicurio.registry.resolver.AbstractSchemaResolver;
import io.apicurio.registry.resolver.ParsedSchema;
import io.apicurio.registry.resolver.ParsedSchemaImpl;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.SchemaParser;
import io.apicurio.registry.resolver.SchemaResolverConfig;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Schema resolver for registries with Confluent's API, where {@value #URL} is the root of that API.
 * Schemas are registered automatically, in full instead of by references.
 *
 * <p>Ids and schemas never change, so both are cached without expiry. Throws {@link
 * org.apache.kafka.connect.errors.RetriableException} while the registry is unavailable.
 *
 * @param <S> type of parsed schemas
 * @param <T> type of records
 */
public final class ConfluentSchemaResolver<S, T> extends AbstractSchemaResolver<S, T> {
  static final String URL = "schema.registry.url";

  private final Map<Long, SchemaLookupResult<S>> byId = new ConcurrentHashMap<>();
  private final Map<SubjectSchema, SchemaLookupResult<S>> byText = new ConcurrentHashMap<>();

  private ConfluentApi api;
  private RegistryRequests requests;

  /** Create a resolver; Apicurio's serializers call {@link #configure} next. */
  public ConfluentSchemaResolver() {}

  @Override
  public void configure(final Map<String, ?> options, final SchemaParser<S, T> parser) {
    final String url = String.valueOf(options.get(URL));
    api = new ConfluentApi(url);
    requests = new RegistryRequests(url, URL);
    // The base class requires an address, for a client that is not used here.
    final Map<String, Object> completed = new HashMap<>(options);
    completed.put(SchemaResolverConfig.REGISTRY_URL, url);
    super.configure(completed, parser);
  }

  @Override
  public SchemaLookupResult<S> resolveSchema(final Record<T> sought) {
    final ParsedSchema<S> schema = schemaParser.getSchemaFromData(sought, true);
    final String subject = resolveArtifactReference(sought, schema, false, null).getArtifactId();
    final String text = new String(schema.getRawSchema(), StandardCharsets.UTF_8);
    return byText.computeIfAbsent(
        new SubjectSchema(subject, text),
        unknown ->
            requests.request(
                "the id of a schema", () -> result(api.register(subject, text), schema)));
  }

  @Override
  public SchemaLookupResult<S> resolveSchemaByArtifactReference(final ArtifactReference reference) {
    return byId.computeIfAbsent(
        reference.getContentId(),
        id -> requests.request("a schema", () -> result(id, parse(api.schema(id)))));
  }

  @Override
  public void reset() {
    super.reset();
    byId.clear();
    byText.clear();
  }

  private ParsedSchema<S> parse(final String text) {
    final byte[] raw = text.getBytes(StandardCharsets.UTF_8);
    return new ParsedSchemaImpl<S>()
        .setParsedSchema(schemaParser.parseSchema(raw, Map.of()))
        .setRawSchema(raw);
  }

  private SchemaLookupResult<S> result(final long id, final ParsedSchema<S> schema) {
    return SchemaLookupResult.<S>builder().contentId(id).parsedSchema(schema).build();
  }

  private record SubjectSchema(String subject, String schema) {}
}
