// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import dev.lineagelab.connect.model.Symlink;
import java.util.List;

/** Facets of a dataset, whichever way its data goes. */
final class DatasetFacets {
  /** Name of the facet that says where in the schema registry a topic's schema is. */
  private static final String REGISTRY = "lineagelab_schemaRegistry";

  private DatasetFacets() {}

  static void addSchema(final ObjectNode facets, final DatasetSchema schema) {
    addFields(Schemas.facet(facets, "schema", Schemas.SCHEMA), schema.fields());
  }

  private static void addFields(final ObjectNode parent, final List<Field> fields) {
    final ArrayNode array = parent.putArray("fields");
    for (final Field field : fields) {
      final ObjectNode json = array.addObject();
      json.put("name", field.name());
      if (field.type() != null) {
        json.put("type", field.type());
      }
      if (field.description() != null) {
        json.put("description", field.description());
      }
      if (!field.fields().isEmpty()) {
        addFields(json, field.fields());
      }
    }
  }

  /** The registry's version of the schema; where none is known, what it says of itself. */
  static void addVersion(final ObjectNode facets, final DatasetSchema schema) {
    final RegisteredSchema registered = schema.registered();
    if (registered != null) {
      addVersion(facets, registered.version());
      final ObjectNode facet = Schemas.facet(facets, REGISTRY, Schemas.DATASET_FACET);
      facet.put("subject", registered.subject()).put("version", registered.version());
      if (registered.id() != null) {
        facet.put("id", registered.id());
      }
    } else if (schema.version() != null) {
      addVersion(facets, schema.version().toString());
    }
  }

  private static void addVersion(final ObjectNode facets, final String version) {
    Schemas.facet(facets, "version", Schemas.VERSION).put("datasetVersion", version);
  }

  static void addSymlinks(final ObjectNode facets, final List<Symlink> symlinks) {
    if (symlinks.isEmpty()) {
      return;
    }
    final ArrayNode array =
        Schemas.facet(facets, "symlinks", Schemas.SYMLINKS).putArray("identifiers");
    for (final Symlink symlink : symlinks) {
      array
          .addObject()
          .put("namespace", symlink.namespace())
          .put("name", symlink.name())
          .put("type", symlink.type());
    }
  }
}
