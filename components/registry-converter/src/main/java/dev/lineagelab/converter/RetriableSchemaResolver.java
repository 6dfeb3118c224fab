// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import io.apicurio.registry.resolver.DefaultSchemaResolver;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.SchemaParser;
import io.apicurio.registry.resolver.SchemaResolverConfig;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import java.util.Map;
import org.apache.kafka.connect.errors.RetriableException;

/**
 * Schema resolver that throws {@link RetriableException} while the registry is unavailable.
 *
 * <p>Errors of a record's bytes, such as a truncated value, are an {@link java.io.IOException} as
 * well but occur outside of this resolver, and are not retried.
 *
 * @param <S> type of parsed schemas
 * @param <T> type of records
 */
public final class RetriableSchemaResolver<S, T> extends DefaultSchemaResolver<S, T> {
  private RegistryRequests requests;

  /** Create a resolver; Apicurio's serializers call {@link #configure} next. */
  public RetriableSchemaResolver() {}

  @Override
  public void configure(final Map<String, ?> options, final SchemaParser<S, T> parser) {
    final String option = SchemaResolverConfig.REGISTRY_URL;
    requests = new RegistryRequests(String.valueOf(options.get(option)), option);
    super.configure(options, parser);
  }

  @Override
  public SchemaLookupResult<S> resolveSchema(final Record<T> sought) {
    return requests.request("the id of a schema", () -> super.resolveSchema(sought));
  }

  @Override
  public SchemaLookupResult<S> resolveSchemaByArtifactReference(final ArtifactReference reference) {
    return requests.request("a schema", () -> super.resolveSchemaByArtifactReference(reference));
  }
}
