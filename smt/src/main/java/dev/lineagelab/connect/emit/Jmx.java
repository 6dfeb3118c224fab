// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows emitters in JMX. That a name is taken, or JMX refuses, is no reason to fail anything. */
final class Jmx {
  static final String DOMAIN = "dev.lineagelab.connect";

  private static final Logger LOG = LoggerFactory.getLogger(Jmx.class);

  private Jmx() {}

  /** Registers an emitter; closing the result removes it. */
  static AutoCloseable register(final EmitterMXBean emitter, final String target) {
    final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      final ObjectName name = free(server, target);
      server.registerMBean(emitter, name);
      return () -> server.unregisterMBean(name);
    } catch (final JMException | RuntimeException e) {
      LOG.warn("Lineage counts are not shown in JMX: {}", e.toString());
      return () -> {};
    }
  }

  /** Several plugins may live in one process, with workers that are embedded. */
  private static ObjectName free(final MBeanServer server, final String target) throws JMException {
    final String base = DOMAIN + ":type=Emitter,target=" + ObjectName.quote(target);
    ObjectName name = new ObjectName(base);
    for (int number = 2; server.isRegistered(name); number++) {
      name = new ObjectName(base + ",number=" + number);
    }
    return name;
  }
}
