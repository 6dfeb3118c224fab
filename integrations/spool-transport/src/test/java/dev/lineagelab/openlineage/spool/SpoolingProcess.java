// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportFactory;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Program of a test: emits an event per job, and then ends or waits to be killed. */
final class SpoolingProcess {
  static final String STORED = "stored";

  private SpoolingProcess() {}

  /**
   * Arguments: directory, URL, what follows the events, jobs. {@code wait}: wait; {@code deliver}:
   * end when they are delivered; {@code end}: end.
   */
  public static void main(String[] arguments) throws InterruptedException {
    SpoolConfig config = Transports.config(Path.of(arguments[0]), arguments[1]);
    config.setCloseTimeoutInMillis(arguments[2].equals("deliver") ? 60_000L : 300L);
    Transport transport = new TransportFactory(config).build();
    for (int at = 3; at < arguments.length; at++) {
      transport.emit(Events.event(EventType.COMPLETE, arguments[at]));
    }
    System.out.println(STORED);
    if (arguments[2].equals("wait")) {
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  /** Starts the program, and returns when it has emitted the events. */
  static Process start(Path directory, String url, String then, String... jobs) throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String main = SpoolingProcess.class.getName();
    List<String> program = List.of(java, "-cp", System.getProperty("java.class.path"), main);
    Stream<String> arguments =
        Stream.concat(Stream.of(directory.toString(), url, then), Stream.of(jobs));
    Process process =
        new ProcessBuilder(Stream.concat(program.stream(), arguments).toList())
            .redirectError(Redirect.DISCARD)
            .start();
    String line = process.inputReader().readLine();
    if (!STORED.equals(line)) {
      process.destroyForcibly();
      throw new IllegalStateException("the process printed " + line);
    }
    return process;
  }
}
