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

/** Readers by the id of the schema that a value was written with, as the registry knows it. */
final class WriterSchemas {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int NOT_FOUND = 404;

  /** For so long an id that the registry does not know is not asked for again. */
  private static final Duration UNKNOWN = Duration.ofMinutes(1);

  private static final int MOST_UNKNOWN = 1000;

  private final String url;
  private final RestService registry;
  private final Schema own;
  private final Map<Integer, DatumReader> readers = new HashMap<>();
  private final Map<Integer, Unknown> unknown = new HashMap<>();

  private record Unknown(String problem, long sinceNanos) {}

  WriterSchemas(final String url, final Schema own) {
    this.url = url;
    this.own = own;
    this.registry = new RestService(url);
    registry.setHttpConnectTimeoutMs((int) TIMEOUT.toMillis());
    registry.setHttpReadTimeoutMs((int) TIMEOUT.toMillis());
  }

  /**
   * Reads what was written with a schema.
   *
   * @throws UnreadableException the registry knows no such schema, or one of which no order can be
   *     read
   * @throws IOException the registry cannot be asked. To take sound orders for broken ones would be
   *     wrong: the job has to be started again, and goes on at its last checkpoint
   */
  DatumReader reader(final int id) throws IOException, UnreadableException {
    final DatumReader known = readers.get(id);
    if (known != null) {
      return known;
    }
    final Unknown before = unknown.get(id);
    if (before != null && System.nanoTime() - before.sinceNanos() < UNKNOWN.toNanos()) {
      throw new UnreadableException(before.problem());
    }
    try {
      final DatumReader reader = readerOf(id, ask(id));
      readers.put(id, reader);
      return reader;
    } catch (UnreadableException e) {
      if (unknown.size() == MOST_UNKNOWN) {
        unknown.clear();
      }
      unknown.put(id, new Unknown(e.getMessage(), System.nanoTime()));
      throw e;
    }
  }

  private SchemaString ask(final int id) throws IOException, UnreadableException {
    try {
      return registry.getId(id);
    } catch (RestClientException e) {
      // A registry says what it does not know by a code of its own, which begins like HTTP's. An
      // error 404 of something else says that the address is wrong.
      if (e.getErrorCode() / 100 == NOT_FOUND) {
        throw new UnreadableException("the registry at " + url + " knows no schema " + id);
      }
      throw outage(id, e);
    } catch (IOException e) {
      throw outage(id, e);
    }
  }

  private DatumReader readerOf(final int id, final SchemaString found) throws UnreadableException {
    final String named = "schema " + id + " of the registry at " + url;
    if (found.getSchemaType() != null && !"AVRO".equals(found.getSchemaType())) {
      throw new UnreadableException(named + " is " + found.getSchemaType() + ", not Avro");
    }
    final Schema schema;
    try {
      schema = new Schema.Parser().parse(found.getSchemaString());
    } catch (AvroRuntimeException e) {
      throw new UnreadableException(named + " cannot be parsed (" + e + ")");
    }
    if (schema.getType() != Schema.Type.RECORD) {
      throw new UnreadableException(named + " is no record");
    }
    final Schema.Field time = schema.getField(Schemas.BID_TIME);
    if (time != null && countsAnotherUnit(time.schema())) {
      // Avro would read microseconds as if they were milliseconds.
      throw new UnreadableException(
          named + " has " + time.schema() + " for " + Schemas.BID_TIME + ", not milliseconds");
    }
    return new DatumReader(schema, own);
  }

  private static boolean countsAnotherUnit(final Schema schema) {
    if (schema.isUnion()) {
      return schema.getTypes().stream().anyMatch(WriterSchemas::countsAnotherUnit);
    }
    final LogicalType type = schema.getLogicalType();
    return type != null && !type.equals(LogicalTypes.timestampMillis());
  }

  private IOException outage(final int id, final Exception cause) {
    return new IOException(
        "Asking the schema registry at "
            + url
            + " for schema "
            + id
            + ": "
            + cause.getMessage()
            + ". Check that it runs there.",
        cause);
  }
}
