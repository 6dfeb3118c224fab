// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class TableColumnsTest {
  private static final String SCHEMAS =
      """
      "current-schema-id": 1,
      "schemas": [
        {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "old", "type": "long"}]},
        {"type": "struct", "schema-id": 1, "fields": [
          {"id": 1, "name": "Id", "type": "long"},
          {"id": 2, "name": "customer", "type": {"type": "struct", "fields": [
            {"id": 3, "name": "name", "type": "string"}]}},
          {"id": 4, "name": "tags", "type": {"type": "list", "element-id": 5, "element": "string"}}
        ]}
      ]""";

  private static TableColumns read(final String metadata) throws RegistryException, IOException {
    return TableColumns.of(new ObjectMapper().readTree("{\"metadata\": {" + metadata + "}}"));
  }

  @Test
  void aColumnIsFoundByTheNameOfTheCurrentSchema() throws Exception {
    final TableColumns columns = read(SCHEMAS);
    assertThat(columns.find("Id", false)).contains("Id");
    assertThat(columns.find("id", false)).isEmpty();
    assertThat(columns.find("id", true)).contains("Id");
    assertThat(columns.find("old", true)).isEmpty();
    assertThat(columns.find("customer", false)).contains("customer");
    assertThat(columns.find("Customer.NAME", true)).contains("customer.name");
    assertThat(columns.find("customer.city", false)).isEmpty();
  }

  @Test
  void fieldsInListsAndMapsAreNotCompared() throws Exception {
    assertThat(read(SCHEMAS).find("tags.element", false)).contains("tags.element");
    assertThat(read(SCHEMAS).find("TAGS.element", true)).contains("tags.element");
    assertThat(read(SCHEMAS).find("tagsx", true)).isEmpty();
  }

  @Test
  void aTableWithANameMappingIsNotRead() {
    assertThatThrownBy(
            () -> read(SCHEMAS + ", \"properties\": {\"schema.name-mapping.default\": \"[]\"}"))
        .isInstanceOf(RegistryException.class)
        .hasMessage("the table has a name mapping");
  }

  @Test
  void aResponseWithoutASchemaIsRejected() {
    assertThatThrownBy(() -> read("\"current-schema-id\": 7, \"schemas\": []"))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining("no current schema");
  }
}
