// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import io.apicurio.registry.resolver.DefaultSchemaResolver;
import io.apicurio.registry.resolver.SchemaLookupResult;
import io.apicurio.registry.resolver.SchemaParser;
import io.apicurio.registry.resolver.SchemaResolverConfig;
import io.apicurio.registry.resolver.data.Record;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.connect.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
  private static final Logger LOG = LoggerFactory.getLogger(RetriableSchemaResolver.class);

  private String url = "";
  private boolean isUnavailable;

  /** Create a resolver; Apicurio's serializers call {@link #configure} next. */
  public RetriableSchemaResolver() {}

  @Override
  public void configure(final Map<String, ?> options, final SchemaParser<S, T> parser) {
    url = String.valueOf(options.get(SchemaResolverConfig.REGISTRY_URL));
    super.configure(options, parser);
  }

  @Override
  public SchemaLookupResult<S> resolveSchema(final Record<T> sought) {
    return request("the id of a schema", () -> super.resolveSchema(sought));
  }

  @Override
  public SchemaLookupResult<S> resolveSchemaByArtifactReference(final ArtifactReference reference) {
    return request("a schema", () -> super.resolveSchemaByArtifactReference(reference));
  }

  private <R> R request(final String what, final Supplier<R> lookup) {
    try {
      final R result = lookup.get();
      isUnavailable = false;
      return result;
    } catch (RuntimeException e) {
      throw RegistryErrors.unavailability(e).map(reason -> retriable(what, reason, e)).orElse(e);
    }
  }

  private RuntimeException retriable(
      final String what, final String reason, final RuntimeException cause) {
    final String message =
        ("Requesting %s from the schema registry at %s: %s. Check that it is running, and "
                + "apicurio.registry.url.")
            .formatted(what, url, reason);
    if (!isUnavailable) {
      // Logged once: Connect logs nothing while it retries and reports the task as RUNNING.
      LOG.warn(message);
      isUnavailable = true;
    }
    return new RetriableException(message, cause);
  }
}
