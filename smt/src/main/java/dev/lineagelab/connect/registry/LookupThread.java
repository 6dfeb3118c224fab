// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Daemon thread for lookups, which starts with the first one. Used under the lock of its owner. */
final class LookupThread implements AutoCloseable {
  private final String name;
  private ScheduledThreadPoolExecutor thread;

  LookupThread(final String name) {
    this.name = name;
  }

  void schedule(final Runnable attempt, final Duration delay) {
    if (thread == null) {
      thread = new ScheduledThreadPoolExecutor(1, this::newThread);
      thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }
    thread.schedule(attempt, delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  private Thread newThread(final Runnable work) {
    final Thread created = new Thread(work, name);
    created.setDaemon(true);
    created.setContextClassLoader(LookupThread.class.getClassLoader());
    return created;
  }

  @Override
  public void close() {
    if (thread != null) {
      thread.shutdownNow();
    }
  }
}
