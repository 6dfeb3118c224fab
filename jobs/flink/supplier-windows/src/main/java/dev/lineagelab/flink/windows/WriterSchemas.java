// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.RestService;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.entities.SchemaString;
import org.apache.flink.avro.registry.confluent.shaded.io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException;
import org.apache.flink.avro.shaded.org.apache.avro.AvroRuntimeException;
import org.apache.flink.avro.shaded.org.apache.avro.LogicalType;
import org.apache.flink.avro.shaded.org.apache.avro.LogicalTypes;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;

/** Cache of decoders by writer schema id, filled from the schema registry. */
final class WriterSchemas {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int NOT_FOUND = 404;

  /** Duration for which a failed lookup of an id is cached. */
  private static final Duration REJECTED_TTL = Duration.ofMinutes(1);

  private static final int MAX_REJECTED = 1000;

  private final String url;
  private final RestService registry;
  private final Schema readerSchema;
  private final Map<Integer, DatumReader> readers = new HashMap<>();
  private final Map<Integer, Rejected> rejected = new HashMap<>();

  private record Rejected(String problem, long sinceNanos) {}

  WriterSchemas(final String url, final Schema readerSchema) {
    this.url = url;
    this.readerSchema = readerSchema;
    this.registry = new RestService(url);
    registry.setHttpConnectTimeoutMs((int) TIMEOUT.toMillis());
    registry.setHttpReadTimeoutMs((int) TIMEOUT.toMillis());
  }

  /**
   * Returns the decoder for values of a writer schema.
   *
   * @throws MalformedOrderException the schema does not exist, or cannot be read as an order
   * @throws IOException the registry is unavailable. The exception fails the job, which then
   *     restarts from its last checkpoint; valid orders must not be dropped as malformed
   */
  DatumReader reader(final int id) throws IOException, MalformedOrderException {
    final DatumReader known = readers.get(id);
    if (known != null) {
      return known;
    }
    final Rejected before = rejected.get(id);
    if (before != null && System.nanoTime() - before.sinceNanos() < REJECTED_TTL.toNanos()) {
      throw new MalformedOrderException(before.problem());
    }
    try {
      final DatumReader reader = createReader(id, fetch(id));
      readers.put(id, reader);
      return reader;
    } catch (MalformedOrderException e) {
      if (rejected.size() == MAX_REJECTED) {
        rejected.clear();
      }
      rejected.put(id, new Rejected(e.getMessage(), System.nanoTime()));
      throw e;
    }
  }

  private SchemaString fetch(final int id) throws IOException, MalformedOrderException {
    try {
      return registry.getId(id);
    } catch (RestClientException e) {
      // The registry's error codes for a missing schema are five digits that start with 404. A
      // plain 404 comes from another server: the URL is wrong.
      if (e.getErrorCode() / 100 == NOT_FOUND) {
        throw new MalformedOrderException(
            "schema " + id + " does not exist in the registry at " + url);
      }
      throw outage(id, e);
    } catch (IOException e) {
      throw outage(id, e);
    }
  }

  private DatumReader createReader(final int id, final SchemaString found)
      throws MalformedOrderException {
    final String label = "schema " + id + " of the registry at " + url;
    if (found.getSchemaType() != null && !"AVRO".equals(found.getSchemaType())) {
      throw new MalformedOrderException(label + " is " + found.getSchemaType() + ", not Avro");
    }
    final Schema schema;
    try {
      schema = new Schema.Parser().parse(found.getSchemaString());
    } catch (AvroRuntimeException e) {
      throw new MalformedOrderException(label + " cannot be parsed (" + e + ")");
    }
    if (schema.getType() != Schema.Type.RECORD) {
      throw new MalformedOrderException(label + " is not a record");
    }
    final Schema.Field time = schema.getField(Schemas.BID_TIME);
    if (time != null && hasOtherTimeUnit(time.schema())) {
      // Avro would interpret microseconds as milliseconds without an error.
      throw new MalformedOrderException(
          label + " has " + time.schema() + " for " + Schemas.BID_TIME + ", not milliseconds");
    }
    return new DatumReader(schema, readerSchema);
  }

  private static boolean hasOtherTimeUnit(final Schema schema) {
    if (schema.isUnion()) {
      return schema.getTypes().stream().anyMatch(WriterSchemas::hasOtherTimeUnit);
    }
    final LogicalType type = schema.getLogicalType();
    return type != null && !type.equals(LogicalTypes.timestampMillis());
  }

  private IOException outage(final int id, final Exception cause) {
    return new IOException(
        "Failed to fetch schema "
            + id
            + " from the schema registry at "
            + url
            + ": "
            + cause.getMessage()
            + ". Check that the registry is running at this address.",
        cause);
  }
}
