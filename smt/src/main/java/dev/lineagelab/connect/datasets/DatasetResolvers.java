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
 * Registry of dataset resolvers, third-party ones included. A resolver that throws is logged once
 * per class and error type; its connectors then have topics only.
 */
final class DatasetResolvers {
  private static final Logger LOG = LoggerFactory.getLogger(DatasetResolvers.class);

  private final List<DatasetResolver> resolvers;
  private final Set<String> reportedFailures = ConcurrentHashMap.newKeySet();

  DatasetResolvers(final List<DatasetResolver> resolvers) {
    this.resolvers = List.copyOf(resolvers);
  }

  /**
   * Load all resolvers that a class loader finds. Third-party resolvers precede the plugin's own;
   * the template resolver is last.
   */
  static DatasetResolvers load(final ClassLoader loader) {
    final List<DatasetResolver> found = new ArrayList<>();
    final Iterator<DatasetResolver> services =
        ServiceLoader.load(DatasetResolver.class, loader).iterator();
    while (addNext(services, found)) {
      // addNext skips entries that cannot be loaded.
    }
    found.sort(Comparator.comparing(DatasetResolvers::rank));
    return new DatasetResolvers(found);
  }

  /**
   * Load the next resolver; return true if there may be more. An iterator that throws has advanced.
   */
  private static boolean addNext(
      final Iterator<DatasetResolver> services, final List<DatasetResolver> found) {
    try {
      if (!services.hasNext()) {
        return false;
      }
      found.add(services.next());
    } catch (final ServiceConfigurationError e) {
      LOG.error("A dataset resolver could not be loaded and is ignored", e);
    }
    return true;
  }

  private static String rank(final DatasetResolver resolver) {
    final boolean isOwn = resolver.getClass().getPackage() == DatasetResolvers.class.getPackage();
    final String group = resolver instanceof TemplateSinkResolver ? "2" : isOwn ? "1" : "0";
    return group + resolver.getClass().getName();
  }

  /** Return the first resolver that supports a class. */
  Optional<DatasetResolver> find(final String connectorClass) {
    return resolvers.stream().filter(resolver -> supports(resolver, connectorClass)).findFirst();
  }

  private boolean supports(final DatasetResolver resolver, final String connectorClass) {
    try {
      return resolver.supports(connectorClass);
    } catch (final RuntimeException | LinkageError | StackOverflowError e) {
      reportFailure(resolver, connectorClass, e);
      return false;
    }
  }

  /**
   * Log a failure unless it was logged before.
   *
   * @return sentence for users, which becomes part of events and therefore omits the exception's
   *     message: that may quote a secret
   */
  String reportFailure(
      final DatasetResolver resolver, final String connectorClass, final Throwable failure) {
    final String what =
        resolver.getClass().getName() + " failed for connectors of class " + connectorClass;
    if (reportedFailures.add(what + failure.getClass())) {
      LOG.error(
          "{}; these connectors report topics only. Further occurrences are not logged",
          what,
          failure);
    }
    return "Only topics are reported: " + what + " (" + failure.getClass().getName() + ").";
  }
}
