// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.Serializable;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;

/** What a partition does next. */
sealed interface Step extends Serializable {
  /** Has an order. */
  record Order(String price, String supplier, Long bidTime, long recordTimestamp) implements Step {
    GenericRecord record() {
      final GenericRecord record = new GenericData.Record(Schemas.ORDER);
      record.put(Schemas.PRICE, price);
      record.put(Schemas.SUPPLIER, supplier);
      record.put(Schemas.BID_TIME, bidTime);
      return record;
    }
  }

  /** Waits until the watermark has come through to the sink. */
  record Watermark(long time) implements Step {}

  /** Waits for the test. */
  record Release() implements Step {}

  /** Never ends, and never has anything. */
  record Silence() implements Step {}

  /** Fails the first time that it comes to this. */
  record Failure() implements Step {}

  static Step order(final String supplier, final String price, final long bidTime) {
    return new Order(price, supplier, bidTime, EventTime.NONE);
  }

  static Step watermark(final long time) {
    return new Watermark(time);
  }
}
