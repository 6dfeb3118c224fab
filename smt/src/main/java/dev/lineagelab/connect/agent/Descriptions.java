// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorView;
import dev.lineagelab.connect.model.Describer;
import dev.lineagelab.connect.model.Description;
import dev.lineagelab.connect.registry.TopicVersions;
import dev.lineagelab.connect.settings.Settings;
import dev.lineagelab.connect.state.SharedState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Describes a connector anew only when something has changed that its lineage is made of. */
final class Descriptions {
  private static final Logger LOG = LoggerFactory.getLogger(Descriptions.class);

  private final Describer describer;
  private final TopicVersions versions;
  private final SharedState state;
  private ConnectorView view;
  private Settings settings;
  private long version = -1;
  private Description described;
  private Description completed;

  Descriptions(final Describer describer, final TopicVersions versions, final SharedState state) {
    this.describer = describer;
    this.versions = versions;
    this.state = state;
  }

  /** The connector's lineage as it is now. A mistake in finding it costs no more than it. */
  Description of(final ConnectorView connector, final Settings own) {
    final long current = state.version(connector.name());
    if (current != version || own != settings || !connector.equals(view)) {
      version = current;
      settings = own;
      view = connector;
      described = describe();
    }
    final TopicVersions.Completed now = versions.complete(view, settings.registry(), described);
    if (completed == null || !now.isPending() || !hasSameDatasets(now.description())) {
      completed = now.description();
    }
    return completed;
  }

  /**
   * New columns without their version would read as columns of the version before: a moment later
   * it is known. Other datasets are told at once.
   */
  private boolean hasSameDatasets(final Description now) {
    return now.inputs().equals(completed.inputs()) && now.outputs().equals(completed.outputs());
  }

  private Description describe() {
    try {
      return describer.describe(view, state.topics(view.name()), settings.names());
    } catch (final RuntimeException | StackOverflowError e) {
      LOG.error("The lineage of {} could not be found out; its runs are told without", view, e);
      return Description.EMPTY;
    }
  }
}
