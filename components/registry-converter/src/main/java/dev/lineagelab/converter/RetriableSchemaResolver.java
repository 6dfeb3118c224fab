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
 * Asks the registry, and says by a {@link RetriableException} that it is away.
 *
 * <p>It sees the registry's errors alone. What is wrong with a record's bytes, a value that ends
 * too early for one, is an {@link java.io.IOException} too, but will be wrong the next time as
 * well.
 *
 * @param <S> parsed schemas
 * @param <T> records
 */
public final class RetriableSchemaResolver<S, T> extends DefaultSchemaResolver<S, T> {
  private static final Logger LOG = LoggerFactory.getLogger(RetriableSchemaResolver.class);

  private String url = "";
  private boolean away;

  /** As Apicurio's serializers make it. */
  public RetriableSchemaResolver() {}

  @Override
  public void configure(final Map<String, ?> options, final SchemaParser<S, T> parser) {
    url = String.valueOf(options.get(SchemaResolverConfig.REGISTRY_URL));
    super.configure(options, parser);
  }

  @Override
  public SchemaLookupResult<S> resolveSchema(final Record<T> sought) {
    return asking("the id of a schema", () -> super.resolveSchema(sought));
  }

  @Override
  public SchemaLookupResult<S> resolveSchemaByArtifactReference(final ArtifactReference reference) {
    return asking("a schema", () -> super.resolveSchemaByArtifactReference(reference));
  }

  private <R> R asking(final String what, final Supplier<R> question) {
    try {
      final R answer = question.get();
      away = false;
      return answer;
    } catch (RuntimeException e) {
      throw RegistryErrors.outage(e).map(said -> retriable(what, said, e)).orElse(e);
    }
  }

  private RuntimeException retriable(
      final String what, final String said, final RuntimeException cause) {
    final String message =
        "Asking the schema registry at "
            + url
            + " for "
            + what
            + ": "
            + said
            + ". Check that it runs, and apicurio.registry.url.";
    if (!away) {
      // Connect says nothing while it retries, and shows the task as running.
      LOG.warn(message);
      away = true;
    }
    return new RetriableException(message, cause);
  }
}
