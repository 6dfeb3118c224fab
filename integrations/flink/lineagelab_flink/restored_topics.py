# SPDX-License-Identifier: Apache-2.0
"""Check that an edited job still reads the topics of the state from which it continues.

Flink's Kafka source restores the partitions of its state, whatever topics the new definition names: a job whose topic
was edited would go on reading the former one, without an error.
"""

import logging
from collections.abc import Iterable
from typing import Any

from lineagelab_flink.checkpoints import WITHOUT_STATE
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import JobLineage

_KAFKA = "kafka://"

log = logging.getLogger(__name__)


def require(before: JobLineage, after: JobLineage | None, restore: str) -> None:
    """Check that no topic was dropped, apart from the addresses of brokers; warn where the new inputs are unknown.

    Args:
        before: lineage of the former definition.
        after: lineage of the new one; None where it is not known.
        restore: checkpoint or savepoint from which the job continues.

    Raises:
        FlinkError: the new definition does not read all topics of the former one.
    """
    if after is None or not after.inputs:
        if _topics(before.inputs):
            log.warning("cannot check that the edited job reads the topics of its state %s", restore)
        return
    if topics := sorted(_topics(before.inputs) - _topics(after.inputs)):
        raise FlinkError(
            f"it no longer reads {', '.join(topics)}, but would continue from {restore}, with which Flink goes on "
            f"reading its former topics; put the topic back, or {WITHOUT_STATE}"
        )


def _topics(inputs: Iterable[dict[str, Any]]) -> set[str]:
    return {str(dataset["name"]) for dataset in inputs if str(dataset["namespace"]).startswith(_KAFKA)}
