# SPDX-License-Identifier: Apache-2.0
"""Fake Marquez: a Java program with Marquez's main class, arguments, configuration and start page.

Few registries offer the real jar. The fake verifies class path, configuration, environment and readiness: it requires
its database, and `GET /seen` returns what it received.
"""

import subprocess
import zipfile
from pathlib import Path

SOURCE = """
package marquez;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class MarquezApp {
  private static final Pattern LISTEN = Pattern.compile("bindHost: (\\\\S+)\\\\s+port: (\\\\d+)");
  private static final Pattern DATABASE = Pattern.compile("jdbc:postgresql://([^:]+):(\\\\d+)/(\\\\S+)");

  public static void main(String[] args) throws Exception {
    if (args.length != 2 || !args[0].equals("server")) {
      throw new IllegalArgumentException("usage: server CONFIG");
    }
    String config = Files.readString(Path.of(args[1]));
    Matcher database = DATABASE.matcher(config);
    database.find();
    new Socket(database.group(1), Integer.parseInt(database.group(2))).close();
    int password = System.getenv("POSTGRES_PASSWORD").length();
    String seen =
        String.join("\\n", database.group(3), "password of " + password, System.getProperty("java.class.path"));
    List<String> received = new ArrayList<>();
    Matcher listen = LISTEN.matcher(config);
    while (listen.find()) {
      int port = Integer.parseInt(listen.group(2));
      HttpServer server = HttpServer.create(new InetSocketAddress(listen.group(1), port), 0);
      server.createContext("/", exchange -> {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String path = exchange.getRequestURI().getPath();
        String answer = "{\\"namespaces\\": []}";
        if (path.equals("/seen")) {
          answer = seen;
        } else if (path.equals("/received")) {
          answer = "[" + String.join(",", received) + "]";
        } else if (body.length > 0) {
          received.add(new String(body, StandardCharsets.UTF_8));
          answer = "";
        }
        byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(body.length > 0 ? 201 : 200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
      });
      server.start();
    }
  }
}
"""


def build_jar(java: Path, folder: Path) -> Path:
    """Compile the fake with the JDK of `java` and return its jar."""
    source = folder / "source" / "marquez" / "MarquezApp.java"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    classes = folder / "classes"
    subprocess.run([java.parent / "javac", "-d", classes, source], check=True)
    jar = folder / "marquez-api.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: marquez.MarquezApp\n")
        for path in sorted(classes.rglob("*.class")):
            archive.write(path, str(path.relative_to(classes)))
    return jar
