# SPDX-License-Identifier: Apache-2.0
"""Answers of a log about one node at a past time, from a part of its events where the state file allows it."""

import logging
import sqlite3
from contextlib import closing

from lineage.events import JsonObject
from lineage.past.answers import Question, answer
from lineage.past.neighbours import WholeGraph
from lineage.past.part import PastPart
from lineage.rules.event_reader import EventReader
from lineage.store.graph_as_of import LogRows, State, check_known, snapshot_of_file, whole_graph
from lineage.store.past_states import past_state

logger = logging.getLogger(__name__)


def answer_as_of(
    log: LogRows, at: int, reader: EventReader, question: Question, state: State | None = None
) -> JsonObject:
    """Return the answer of a log to a question as of time `at` (ns).

    Raises:
        Compacted: retention has compacted later events.
        UnknownNode, NoDataset: there is no answer.
    """
    check_known(log, at)
    if state is not None:
        try:
            found = _answer_of_part(log, at, reader, question, state)
        except (sqlite3.Error, ValueError) as error:
            logger.warning("the index in %s cannot be used: %s", state.path, error)
        else:
            if found is not None:
                return found
    return answer(WholeGraph(*whole_graph(log, at, reader)), question, reader, at)


def _answer_of_part(log: LogRows, at: int, reader: EventReader, question: Question, state: State) -> JsonObject | None:
    """Return the answer; None if the state file is of other rules, or retention has compacted what it would need."""
    with closing(snapshot_of_file(state.path)) as file:
        (digest,) = file.execute("SELECT digest FROM checkpoint").fetchone()
        if digest != state.digest:
            return None
        compacted = log.compacted_through()
        found = past_state(file, at, compacted)
        if found is None and compacted:
            return None
        return answer(PastPart(log, file, found, at, reader), question, reader, at)
