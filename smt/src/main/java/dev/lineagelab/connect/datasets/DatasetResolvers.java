// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resolvers that there are. Anybody can add one: what one of them throws is named in the log,
 * once, and costs no more than what it would have told.
 */
final class DatasetResolvers {
  private static final Logger LOG = LoggerFactory.getLogger(DatasetResolvers.class);

  private final List<DatasetResolver> resolvers;
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  DatasetResolvers(final List<DatasetResolver> resolvers) {
    this.resolvers = List.copyOf(resolvers);
  }

  /**
   * All that a class loader finds. Those that others add come before the plugin's, of which the
   * table comes last.
   */
  static DatasetResolvers of(final ClassLoader loader) {
    final List<DatasetResolver> found = new ArrayList<>();
    final Iterator<DatasetResolver> services =
        ServiceLoader.load(DatasetResolver.class, loader).iterator();
    while (addNext(services, found)) {
      // Goes on behind an entry that is no resolver.
    }
    found.sort(Comparator.comparing(DatasetResolvers::rank));
    return new DatasetResolvers(found);
  }

  /** Whether there may be more: the iterator has moved on where it throws. */
  private static boolean addNext(
      final Iterator<DatasetResolver> services, final List<DatasetResolver> found) {
    try {
      if (!services.hasNext()) {
        return false;
      }
      found.add(services.next());
    } catch (final ServiceConfigurationError e) {
      LOG.error("A resolver of datasets cannot be loaded; the others are used", e);
    }
    return true;
  }

  private static String rank(final DatasetResolver resolver) {
    final boolean isOwn = resolver.getClass().getPackage() == DatasetResolvers.class.getPackage();
    final String group = resolver instanceof TemplateSinkResolver ? "2" : isOwn ? "1" : "0";
    return group + resolver.getClass().getName();
  }

  /** The first one that knows connectors of a class. */
  Optional<DatasetResolver> of(final String connectorClass) {
    return resolvers.stream().filter(resolver -> knows(resolver, connectorClass)).findFirst();
  }

  private boolean knows(final DatasetResolver resolver, final String connectorClass) {
    try {
      return resolver.knows(connectorClass);
    } catch (final RuntimeException | LinkageError | StackOverflowError e) {
      failed(resolver, connectorClass, e);
      return false;
    }
  }

  /**
   * Names a failure unless that was done; returns a sentence for people. It is part of events, and
   * so has no message that may quote a secret.
   */
  String failed(
      final DatasetResolver resolver, final String connectorClass, final Throwable failure) {
    final String what =
        resolver.getClass().getName() + " failed for connectors of class " + connectorClass;
    if (told.add(what + failure.getClass())) {
      LOG.error("{}; of those only topics are told, from now on without a word", what, failure);
    }
    return "Only topics are told: " + what + " (" + failure.getClass().getName() + ").";
  }
}
