// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorView;
import dev.lineagelab.connect.model.Describer;
import dev.lineagelab.connect.model.Description;
import dev.lineagelab.connect.settings.Settings;
import dev.lineagelab.connect.state.SharedState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Describes a connector anew only when something has changed that its lineage is made of. */
final class Descriptions {
  private static final Logger LOG = LoggerFactory.getLogger(Descriptions.class);

  private final Describer describer;
  private final SharedState state;
  private ConnectorView view;
  private Settings settings;
  private long version = -1;
  private Description description;

  Descriptions(final Describer describer, final SharedState state) {
    this.describer = describer;
    this.state = state;
  }

  /** The connector's lineage as it is now. A mistake in finding it costs no more than it. */
  Description of(final ConnectorView connector, final Settings own) {
    final long now = state.version(connector.name());
    if (now != version || own != settings || !connector.equals(view)) {
      version = now;
      settings = own;
      view = connector;
      description = describe();
    }
    return description;
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
