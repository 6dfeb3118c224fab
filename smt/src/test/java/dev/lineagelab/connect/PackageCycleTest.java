// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that the packages of this plugin do not depend on each other in cycles. */
class PackageCycleTest {
  private static final Path SOURCES = Path.of("src/main/java/dev/lineagelab/connect");

  /** Qualified names of this plugin's classes, in imports or in code, but not in strings. */
  private static final Pattern REFERENCE =
      Pattern.compile("(?<!\")dev\\.lineagelab\\.connect\\.((?:[a-z]+\\.)*)[A-Z]\\w*");

  @Test
  void packagesHaveNoCycles() throws IOException {
    assertThat(inCycles(dependencies())).isEmpty();
  }

  @Test
  void detectsACycle() {
    final Map<String, TreeSet<String>> dependencies = new TreeMap<>();
    dependencies.put("a", new TreeSet<>(List.of("b")));
    dependencies.put("b", new TreeSet<>(List.of("c", "d")));
    dependencies.put("c", new TreeSet<>(List.of("a")));
    dependencies.put("d", new TreeSet<>());
    assertThat(inCycles(dependencies).keySet()).containsExactly("a", "b", "c");
  }

  @Test
  void readsDependenciesFromTheSources() throws IOException {
    assertThat(dependencies().get("agent")).contains("cluster", "runs", "transport");
    assertThat(dependencies().get("")).contains("agent");
  }

  /** Packages that each package refers to, by name below the plugin's own package. */
  private static Map<String, TreeSet<String>> dependencies() throws IOException {
    final Map<String, TreeSet<String>> dependencies = new TreeMap<>();
    try (Stream<Path> files = Files.walk(SOURCES)) {
      for (final Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        final String name =
            SOURCES
                .relativize(file.getParent())
                .toString()
                .replace(file.getFileSystem().getSeparator(), ".");
        final TreeSet<String> found = dependencies.computeIfAbsent(name, unused -> new TreeSet<>());
        final Matcher references = REFERENCE.matcher(Files.readString(file));
        while (references.find()) {
          found.add(references.group(1).replaceAll("\\.$", ""));
        }
        found.remove(name);
      }
    }
    return dependencies;
  }

  /** Returns the packages left after repeated removal of those without dependents or targets. */
  private static Map<String, TreeSet<String>> inCycles(
      final Map<String, TreeSet<String>> dependencies) {
    final Map<String, TreeSet<String>> left = new TreeMap<>();
    dependencies.forEach((name, targets) -> left.put(name, new TreeSet<>(targets)));
    int size;
    do {
      size = left.size();
      left.values().removeIf(targets -> targets.stream().noneMatch(left::containsKey));
      left.values().forEach(targets -> targets.retainAll(left.keySet()));
      left.keySet().removeIf(name -> left.values().stream().noneMatch(it -> it.contains(name)));
    } while (left.size() < size);
    return left;
  }
}
