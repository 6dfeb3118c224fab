// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import dev.lineagelab.connect.model.Symlink;
import java.util.List;

/** Facets that inputs and outputs share. */
final class DatasetFacets {
  /** Facet with subject, version and id of a topic's schema in the schema registry. */
  private static final String REGISTRY = "lineagelab_schemaRegistry";

  private DatasetFacets() {}

  static void addSchema(final ObjectNode facets, final DatasetSchema schema) {
    addFields(FacetSchemas.facet(facets, "schema", FacetSchemas.SCHEMA), schema.fields());
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

  /**
   * Add the version of the schema in the registry; if unknown, the one that the schema declares.
   */
  static void addVersion(final ObjectNode facets, final DatasetSchema schema) {
    final RegisteredSchema registered = schema.registered();
    if (registered != null) {
      addVersion(facets, registered.version());
      final ObjectNode facet = FacetSchemas.facet(facets, REGISTRY, FacetSchemas.DATASET_FACET);
      facet.put("subject", registered.subject()).put("version", registered.version());
      if (registered.id() != null) {
        facet.put("id", registered.id());
      }
    } else if (schema.version() != null) {
      addVersion(facets, schema.version().toString());
    }
  }

  private static void addVersion(final ObjectNode facets, final String version) {
    FacetSchemas.facet(facets, "version", FacetSchemas.VERSION).put("datasetVersion", version);
  }

  static void addSymlinks(final ObjectNode facets, final List<Symlink> symlinks) {
    if (symlinks.isEmpty()) {
      return;
    }
    final ArrayNode array =
        FacetSchemas.facet(facets, "symlinks", FacetSchemas.SYMLINKS).putArray("identifiers");
    for (final Symlink symlink : symlinks) {
      array
          .addObject()
          .put("namespace", symlink.namespace())
          .put("name", symlink.name())
          .put("type", symlink.type());
    }
  }
}
