// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Sink that forwards windows and watermarks to a {@link Probe}. */
final class CollectingSink implements Sink<SupplierWindow> {
  private static final long serialVersionUID = 1L;

  private final String probe;

  CollectingSink(final Probe probe) {
    this.probe = probe.id;
  }

  @Override
  public SinkWriter<SupplierWindow> createWriter(final WriterInitContext context) {
    final Probe to = Probe.of(probe);
    return new SinkWriter<>() {
      @Override
      public void write(final SupplierWindow window, final Context element) {
        to.add(window);
      }

      @Override
      public void writeWatermark(final Watermark watermark) {
        to.advanceWatermark(watermark.getTimestamp());
      }

      @Override
      public void flush(final boolean endOfInput) {}

      @Override
      public void close() {}
    };
  }
}
