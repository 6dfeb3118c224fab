// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * Recursive struct schema, as converters create it from recursive Avro: the nested schema is
 * resolved lazily.
 */
public final class RecursiveSchema {
  private RecursiveSchema() {}

  /** Return a node with a number, another node, and an array of nodes. */
  public static Schema node() {
    final Schema[] node = new Schema[1];
    final Schema later =
        (Schema)
            Proxy.newProxyInstance(
                RecursiveSchema.class.getClassLoader(),
                new Class<?>[] {Schema.class},
                (proxy, method, arguments) -> method.invoke(node[0], arguments));
    final List<Field> fields =
        List.of(
            new Field("value", 0, Schema.INT32_SCHEMA),
            new Field("next", 1, later),
            new Field("children", 2, SchemaBuilder.array(later).build()));
    node[0] =
        new ConnectSchema(
            Schema.Type.STRUCT, true, null, "Node", null, null, null, fields, null, null);
    return later;
  }
}
