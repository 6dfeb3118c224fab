// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Registers emitters in JMX. Failures are logged and otherwise ignored. */
final class EmitterMBeans {
  static final String DOMAIN = "dev.lineagelab.connect";

  private static final Logger LOG = LoggerFactory.getLogger(EmitterMBeans.class);

  private EmitterMBeans() {}

  /** Register an emitter; closing the result unregisters it. */
  static AutoCloseable register(final EmitterMXBean emitter, final String target) {
    final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    try {
      final ObjectName name = uniqueName(server, target);
      server.registerMBean(emitter, name);
      return () -> server.unregisterMBean(name);
    } catch (final JMException | RuntimeException e) {
      LOG.warn("Cannot register the lineage emitter in JMX: {}", e.toString());
      return () -> {};
    }
  }

  /** Embedded workers may load several plugins in one process. */
  private static ObjectName uniqueName(final MBeanServer server, final String target)
      throws JMException {
    final String base = DOMAIN + ":type=Emitter,target=" + ObjectName.quote(target);
    ObjectName name = new ObjectName(base);
    for (int number = 2; server.isRegistered(name); number++) {
      name = new ObjectName(base + ",number=" + number);
    }
    return name;
  }
}
