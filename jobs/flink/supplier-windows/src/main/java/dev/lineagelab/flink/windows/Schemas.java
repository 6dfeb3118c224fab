// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;

/** The job's Avro schemas. */
final class Schemas {
  static final String PRICE = "price";
  static final String SUPPLIER = "supplier";
  static final String BID_TIME = "bid_time";

  /**
   * Reader schema of orders. It ships with the job and is not the latest of the registry, so that a
   * new version of the writer schema neither changes the job's input nor is required at start.
   */
  static final Schema ORDER = resource("order.avsc");

  static final Schema SUPPLIER_WINDOW = resource("supplier_window.avsc");

  private Schemas() {}

  private static Schema resource(final String name) {
    try (InputStream text = Schemas.class.getResourceAsStream(name)) {
      return new Schema.Parser().parse(text);
    } catch (IOException e) {
      throw new UncheckedIOException("Reading " + name + " from the job's jar", e);
    }
  }
}
