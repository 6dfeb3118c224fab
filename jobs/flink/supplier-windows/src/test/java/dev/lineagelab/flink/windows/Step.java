// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.Serializable;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;

/** Step in the script of a partition. */
sealed interface Step extends Serializable {
  /** Emits an order. */
  record Order(String price, String supplier, Long bidTime, long recordTimestamp) implements Step {
    GenericRecord record() {
      final GenericRecord record = new GenericData.Record(Schemas.ORDER);
      record.put(Schemas.PRICE, price);
      record.put(Schemas.SUPPLIER, supplier);
      record.put(Schemas.BID_TIME, bidTime);
      return record;
    }
  }

  /** Waits until a watermark has reached the sink. */
  record Watermark(long time) implements Step {}

  /** Waits until the test releases the probe. */
  record Release() implements Step {}

  /** Throws on the first execution only. */
  record Failure() implements Step {}

  static Step order(final String supplier, final String price, final long bidTime) {
    return new Order(price, supplier, bidTime, EventTime.NONE);
  }

  static Step watermark(final long time) {
    return new Watermark(time);
  }
}
