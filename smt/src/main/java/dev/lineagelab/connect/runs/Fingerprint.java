// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.Dataset;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** Short hashes to compare datasets and configurations by. */
public final class Fingerprint {
  private static final int BYTES = 16;

  private Fingerprint() {}

  /** Fingerprint of the datasets that a connector reads and writes; independent of columns. */
  public static String ofDatasets(final ConnectorLineage description) {
    final StringBuilder text = new StringBuilder();
    append(text, "in", description.inputs());
    append(text, "out", description.outputs());
    return of(text.toString());
  }

  /** Fingerprint of a configuration. One-way, as the configuration contains secrets. */
  public static String ofConfig(final Map<String, String> config) {
    return of(new TreeMap<>(config).toString());
  }

  private static void append(
      final StringBuilder text, final String label, final Iterable<Dataset> datasets) {
    for (final Dataset dataset : datasets) {
      text.append(label).append('\0').append(dataset.namespace()).append('\0');
      text.append(dataset.name()).append('\n');
    }
  }

  private static String of(final String text) {
    return HexFormat.of().formatHex(sha256(text), 0, BYTES);
  }

  static byte[] sha256(final String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (final NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is missing from this JVM", e);
    }
  }
}
