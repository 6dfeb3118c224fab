// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.lang.reflect.Proxy;
import java.util.List;
import org.apache.kafka.connect.data.ConnectSchema;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/** A struct that contains itself, as converters make it of recursive Avro: looked up when asked. */
public final class RecursiveSchema {
  private RecursiveSchema() {}

  /** With a number, a struct of the same kind, and many of them. */
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
