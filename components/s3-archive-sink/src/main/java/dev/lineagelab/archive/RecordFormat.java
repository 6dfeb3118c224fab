// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.connect.sink.SinkRecord;

/** How records become objects. Equal records always give equal bytes. */
interface RecordFormat {

  /** What the names of objects end with, without dot. */
  String extension();

  /**
   * How to write a record and others like it. Records may share an object if they have the same
   * layout, that is the same instance.
   *
   * @throws org.apache.kafka.connect.errors.DataException it cannot be written in this format
   */
  Layout layoutOf(SinkRecord record);

  /** How to write the records of one object. */
  interface Layout {

    /**
     * One record, as it will stand in the object.
     *
     * @throws org.apache.kafka.connect.errors.DataException it cannot be written in this format
     */
    byte[] encode(SinkRecord record);

    /**
     * The object's content.
     *
     * @param key the object's name
     */
    byte[] assemble(String key, EncodedRecords records);

    String contentType();
  }
}
