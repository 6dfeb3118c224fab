// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.program;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.apache.flink.table.factories.Factory;
import org.apache.flink.table.planner.delegation.DefaultPlannerFactory;

/**
 * Class loader in which Flink finds {@link DescribingPlannerFactory} in place of its own factory.
 */
final class PlannerServices extends ClassLoader {
  private static final String FACTORIES = "META-INF/services/" + Factory.class.getName();

  private final Path folder;

  /**
   * Creates a class loader.
   *
   * @param folder an empty folder for lists of factories
   */
  PlannerServices(final ClassLoader parent, final Path folder) {
    super(parent);
    this.folder = folder;
  }

  @Override
  public Enumeration<URL> getResources(final String name) throws IOException {
    final List<URL> found = Collections.list(super.getResources(name));
    return Collections.enumeration(
        FACTORIES.equals(name) ? found.stream().map(this::replaced).toList() : found);
  }

  private URL replaced(final URL list) {
    try (InputStream content = list.openStream()) {
      final String factories = new String(content.readAllBytes(), StandardCharsets.UTF_8);
      final String own = DefaultPlannerFactory.class.getName();
      if (!factories.contains(own)) {
        return list;
      }
      final Path file = Files.createTempFile(folder, "factories", "");
      Files.writeString(file, factories.replace(own, DescribingPlannerFactory.class.getName()));
      return file.toUri().toURL();
    } catch (final IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
