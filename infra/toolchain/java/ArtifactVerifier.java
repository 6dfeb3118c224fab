// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.toolchain;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.eclipse.aether.RepositoryEvent;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.repository.WorkspaceRepository;

/**
 * Extension of Maven that verifies each resolved file, of plugins and annotation processors too, before it is used.
 *
 * <p>Maven reports a file after it has resolved it and before it loads it. POMs are not verified: they contain no code,
 * and a file that a changed POM adds is in no lock. The class file has the format of Java 8, as Maven 3.8 finds no
 * extension in a newer one.
 *
 * <p>System properties:
 *
 * <ul>
 *   <li>{@code lineagelab.locked}: file of lines `sha256 coordinate`; other files are refused.
 *   <li>{@code lineagelab.unlocked}: `true` accepts files without a line in it.
 *   <li>{@code lineagelab.refused}: file to which a line `coordinate reason` is appended before Maven is ended.
 *   <li>{@code lineagelab.resolved}: file to which a line `sha256 coordinate` of each file is appended.
 * </ul>
 *
 * Without {@code lineagelab.locked} every file is accepted.
 */
@Named
@Singleton
public final class ArtifactVerifier extends AbstractEventSpy {
  private final Map<String, String> locked;
  private final boolean unlockedAccepted = Boolean.getBoolean("lineagelab.unlocked");
  private final Path refused = path("lineagelab.refused");
  private final Path resolved = path("lineagelab.resolved");
  private final Set<File> accepted = Collections.synchronizedSet(new HashSet<>());

  public ArtifactVerifier() throws IOException {
    Path file = path("lineagelab.locked");
    locked = file == null ? null : new HashMap<>();
    if (file != null) {
      for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
        String[] words = line.split("  ", 2);
        locked.put(words[1], words[0]);
      }
    }
  }

  @Override
  public void onEvent(Object event) throws IOException {
    if (!(event instanceof RepositoryEvent)) {
      return;
    }
    RepositoryEvent found = (RepositoryEvent) event;
    // A file of the workspace was built by this Maven.
    if (found.getType() == RepositoryEvent.EventType.ARTIFACT_RESOLVED
        && !(found.getRepository() instanceof WorkspaceRepository)) {
      verify(found.getArtifact());
    }
  }

  private void verify(Artifact artifact) {
    File file = artifact.getFile();
    if (file == null || artifact.getExtension().equals("pom") || accepted.contains(file)) {
      return;
    }
    String coordinate = coordinate(artifact);
    try {
      String actual = sha256(file);
      String expected = locked == null ? actual : locked.get(coordinate);
      if (expected == null && !unlockedAccepted) {
        refuse(coordinate + " was resolved but is not in the lock");
      } else if (expected != null && !expected.equals(actual)) {
        refuse(coordinate + " has sha256 " + actual + " instead of " + expected);
      }
      append(resolved, actual + "  " + coordinate);
    } catch (IOException error) {
      // Maven logs an exception of an extension and continues, but not an error.
      throw new IllegalArtifact("cannot verify " + coordinate + ": " + error);
    }
    accepted.add(file);
  }

  private void refuse(String reason) throws IOException {
    append(refused, reason);
    throw new IllegalArtifact(reason);
  }

  private static String coordinate(Artifact artifact) {
    String classifier = artifact.getClassifier();
    return String.join(
        ":",
        artifact.getGroupId(),
        artifact.getArtifactId(),
        artifact.getVersion() + (classifier.isEmpty() ? "" : ":" + classifier),
        artifact.getExtension());
  }

  private static String sha256(File file) throws IOException {
    try (InputStream in = Files.newInputStream(file.toPath())) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[1 << 16];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
      StringBuilder text = new StringBuilder();
      for (byte part : digest.digest()) {
        text.append(String.format("%02x", part));
      }
      return text.toString();
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException("every Java has SHA-256", error);
    }
  }

  private static synchronized void append(Path file, String line) throws IOException {
    if (file != null) {
      byte[] text = (line + "\n").getBytes(StandardCharsets.UTF_8);
      Files.write(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  private static Path path(String property) {
    String text = System.getProperty(property);
    return text == null ? null : Paths.get(text);
  }

  /** End of Maven: a file is not the one that is locked. */
  private static final class IllegalArtifact extends Error {
    private static final long serialVersionUID = 1L;

    IllegalArtifact(String message) {
      super(message);
    }
  }
}
