// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.program;

import dev.lineagelab.flink.sql.script.Document;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.apache.flink.client.program.StreamContextEnvironment;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.util.ChildFirstClassLoader;

/** Program of a jar. */
public final class JarProgram {
  private JarProgram() {}

  /**
   * Runs a program up to its first job, and returns the lineage of that job. Definitions before it
   * take effect, as in the real run.
   *
   * @param mainClass empty for the one that the jar's manifest names
   * @param scratch an empty folder
   * @throws UnknownLineageError if the lineage of the job is not known
   * @throws IOException if the jar cannot be read, or names no main class
   * @throws ReflectiveOperationException if its main class cannot be run
   * @throws InvocationTargetException if the program failed
   */
  public static Document describe(
      final Path jar, final String mainClass, final String[] arguments, final Path scratch)
      throws IOException, ReflectiveOperationException {
    // Flink demands the name of an executor before it looks for one.
    final Configuration configuration = new Configuration().set(DeploymentOptions.TARGET, "none");
    final ClassLoader flink = JarProgram.class.getClassLoader();
    final ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (ChildFirstClassLoader classes =
        new ChildFirstClassLoader(
            new URL[] {jar.toUri().toURL()},
            new PlannerServices(flink, scratch),
            CoreOptions.getParentFirstLoaderPatterns(configuration),
            failure -> {})) {
      Thread.currentThread().setContextClassLoader(classes);
      StreamContextEnvironment.setAsContext(
          new NoExecutors(), configuration, classes, /* one job */ true, /* no output */ true);
      final String name = mainClass.isEmpty() ? mainClassOf(jar) : mainClass;
      Class.forName(name, true, classes)
          .getMethod("main", String[].class)
          .invoke(null, (Object) arguments);
    } catch (final InvocationTargetException ended) {
      if (ended.getCause() instanceof final DescribedError described) {
        return described.document();
      }
      if (ended.getCause() instanceof final UnknownLineageError unknown) {
        throw unknown;
      }
      throw ended;
    } finally {
      StreamContextEnvironment.unsetAsContext();
      Thread.currentThread().setContextClassLoader(before);
    }
    throw new UnknownLineageError("the program submitted no job");
  }

  private static String mainClassOf(final Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      final Manifest manifest = file.getManifest();
      final Attributes attributes =
          manifest == null ? new Attributes() : manifest.getMainAttributes();
      final String own = attributes.getValue("program-class");
      final String name = own == null ? attributes.getValue(Attributes.Name.MAIN_CLASS) : own;
      if (name == null) {
        throw new IOException("its manifest names no main class");
      }
      return name;
    }
  }

  /** Jobs of the DataStream API are not submitted. */
  private static final class NoExecutors implements PipelineExecutorServiceLoader {
    @Override
    public PipelineExecutorFactory getExecutorFactory(final Configuration configuration) {
      throw new UnknownLineageError("it is a job of the DataStream API");
    }

    @Override
    public Stream<String> getExecutorNames() {
      return Stream.empty();
    }
  }
}
