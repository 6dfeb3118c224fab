// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import io.openlineage.client.OpenLineageClientUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Folder of one transport of one process in a directory that processes share.
 *
 * <p>The transport locks it: the folders of processes that have ended are not locked. Its name
 * begins with the process, which must not open the lock files of its own folders: closing one would
 * unlock the folder.
 */
final class SpoolFolder {
  /** Prefix of folders that are not complete, or whose transport is closed. */
  private static final String NEW = "new-";

  private static final String CLOSED = "closed-";
  private static final String LOCK = "lock";

  /** Suffix of the file of an event that is being stored. */
  private static final String INCOMPLETE = ".new";

  private static final String DAMAGED = "damaged";

  private static final List<FileChannel> OPENED_TWICE = new ArrayList<>();

  private static final String PROCESS = process(ProcessHandle.current());

  private final Path folder;
  private final FileChannel channel;
  private long stored;

  private SpoolFolder(Path folder, FileChannel channel) {
    this.folder = folder;
    this.channel = channel;
  }

  /** Throws IOException if no file can be written to the directory, which is created. */
  static void requireWritable(Path directory) throws IOException {
    Files.createDirectories(directory);
    Files.delete(Files.createTempFile(directory, NEW, ""));
  }

  /** Creates and locks a folder. */
  static SpoolFolder create(Path directory) throws IOException {
    String name = UUID.randomUUID().toString();
    Path created = Files.createDirectories(directory.resolve(NEW + name));
    FileChannel channel = FileChannel.open(created.resolve(LOCK), CREATE_NEW, WRITE);
    if (channel.tryLock() == null) {
      channel.close();
      throw new IOException("cannot lock " + created);
    }
    // Complete only now: another process may take a folder that is not locked.
    Path folder = directory.resolve(PROCESS + name);
    Files.move(created, folder, ATOMIC_MOVE);
    return new SpoolFolder(folder, channel);
  }

  /** Locks and returns the folders of transports that have ended; they are then this process's. */
  static synchronized List<SpoolFolder> ofEnded(Path directory) throws IOException {
    List<SpoolFolder> found = new ArrayList<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(directory, Files::isDirectory)) {
      for (Path folder : folders) {
        String name = folder.getFileName().toString();
        if (name.startsWith(PROCESS) || name.startsWith(NEW) || name.equals(DAMAGED)) {
          continue;
        }
        FileChannel channel = lock(folder.resolve(LOCK));
        if (channel != null) {
          Path own = directory.resolve(PROCESS + UUID.randomUUID());
          Files.move(folder, own, ATOMIC_MOVE);
          found.add(new SpoolFolder(own, channel));
        }
      }
    }
    return found;
  }

  private static FileChannel lock(Path file) throws IOException {
    FileChannel channel;
    try {
      channel = FileChannel.open(file, WRITE);
    } catch (NoSuchFileException taken) {
      return null;
    }
    try {
      FileLock lock = channel.tryLock();
      if (lock != null && Files.exists(file)) {
        return channel;
      }
    } catch (OverlappingFileLockException ours) {
      // Another class loader has just locked it. Closing the channel would unlock the file.
      OPENED_TWICE.add(channel);
      return null;
    }
    channel.close();
    return null;
  }

  /** Keeps the events that a killed process had written when it ended, and deletes parts of one. */
  void completeEvents() throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + INCOMPLETE)) {
      for (Path file : files) {
        if (isWritten(file)) {
          String name = file.getFileName().toString();
          String event = name.substring(0, name.length() - INCOMPLETE.length());
          Files.move(file, folder.resolve(event), ATOMIC_MOVE);
        } else {
          Files.delete(file);
        }
      }
    }
  }

  private static boolean isWritten(Path file) throws IOException {
    String json = new String(Files.readAllBytes(file), UTF_8); // of a part of a character, too
    try {
      OpenLineageClientUtils.runEventFromJson(json);
      return true;
    } catch (UncheckedIOException partOfEvent) {
      return false;
    }
  }

  /** Returns its events, the oldest first. */
  List<StoredEvent> events() throws IOException {
    List<StoredEvent> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files.filter(SpoolFolder::isEvent).sorted()::iterator) {
        found.add(new StoredEvent(file, Files.size(file)));
      }
    }
    return found;
  }

  private static boolean isEvent(Path file) {
    return file.getFileName().toString().endsWith(StoredEvent.SUFFIX);
  }

  /** Stores an event, which is on the disk when this returns. */
  StoredEvent store(String type, String json) throws IOException {
    byte[] content = json.getBytes(UTF_8);
    String name =
        String.format(
            "%013d-%09d-%s%s", Instant.now().toEpochMilli(), stored++, type, StoredEvent.SUFFIX);
    Path temporary = folder.resolve(name + INCOMPLETE);
    try (FileChannel file = FileChannel.open(temporary, CREATE_NEW, WRITE)) {
      for (ByteBuffer buffer = ByteBuffer.wrap(content); buffer.hasRemaining(); ) {
        file.write(buffer);
      }
      file.force(true);
    }
    Path complete = folder.resolve(name);
    Files.move(temporary, complete, ATOMIC_MOVE);
    return new StoredEvent(complete, content.length);
  }

  /** Moves an event that cannot be read out of the way, and returns its new path. */
  static Path setAside(StoredEvent event) throws IOException {
    Path directory = Files.createDirectories(event.file().getParent().resolveSibling(DAMAGED));
    return Files.move(event.file(), directory.resolve(UUID.randomUUID() + StoredEvent.SUFFIX));
  }

  /** Removes the folder, whose events have all been delivered. */
  void remove() throws IOException {
    try (channel;
        Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.delete(file);
      }
      Files.delete(folder);
    }
  }

  /** Leaves the folder, with its events, to the next transport. */
  void leave() throws IOException {
    try (channel) {
      Files.move(folder, folder.resolveSibling(CLOSED + UUID.randomUUID()), ATOMIC_MOVE);
    }
  }

  private static String process(ProcessHandle process) {
    long started = process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    return process.pid() + "-" + started + "-";
  }
}
