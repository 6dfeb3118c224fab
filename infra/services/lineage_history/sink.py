# SPDX-License-Identifier: Apache-2.0
"""Topic of the lineage events, and the Iceberg sink that stores them in the lake.

The sink's lineage is off: with it, commits of the sink would cause events that the next commits store, without an end.
"""

from infra.model import Connector, Part, Site
from infra.namespaces import JOB_LINEAGE_EVENTS_LAKE, TABLE_LINEAGE_EVENTS, TOPIC_LINEAGE_EVENTS
from infra.services import iceberg_catalog, kafka
from infra.services.connect import connectors
from infra.services.connect import worker as connect
from infra.services.definition import Draft
from infra.services.lineage_history.settings import included
from infra.services.shop.tables import UNLIMITED_RETENTION

MAX_RECORD_BYTES = 9 * 2**20
"""Maximum size of a record of the topic: an event of 4 MiB, the limit of the lineage service, as a JSON string."""

_CONTROL_TOPIC = f"control.{JOB_LINEAGE_EVENTS_LAKE}"


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return topics and sink, if the lab has them."""
    if not included(draft.settings):
        return ()
    site = draft.site
    config = {**UNLIMITED_RETENTION, "max.message.bytes": str(MAX_RECORD_BYTES)}
    dead_letters = connectors.dead_letter_topic(JOB_LINEAGE_EVENTS_LAKE)
    return (
        kafka.topic(site, TOPIC_LINEAGE_EVENTS, config=config),
        kafka.topic(site, dead_letters, config={"max.message.bytes": str(MAX_RECORD_BYTES)}),
        kafka.topic(site, _CONTROL_TOPIC),
        _sink(site, dead_letters),
    )


def _sink(site: Site, dead_letters: str) -> Connector:
    options: connectors.Options = {
        **connectors.sink_options(JOB_LINEAGE_EVENTS_LAKE, (TOPIC_LINEAGE_EVENTS,)),
        **connectors.iceberg_sink_options(site, _CONTROL_TOPIC),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": True,
        "iceberg.tables": TABLE_LINEAGE_EVENTS,
        f"iceberg.table.{TABLE_LINEAGE_EVENTS}.partition-by": "days(event_time)",
        **connectors.transform_options(connectors.LINEAGE),
        f"transforms.{connectors.LINEAGE}.enabled": False,
    }
    topics = tuple(f"topic/{topic}" for topic in (TOPIC_LINEAGE_EVENTS, dead_letters, _CONTROL_TOPIC))
    return connect.connector(
        site, JOB_LINEAGE_EVENTS_LAKE, connectors.options_as_text(options), (*topics, iceberg_catalog.NAME)
    )
