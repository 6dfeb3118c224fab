# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage.past LOG NANOSECONDS`: write the graph of a log as of a time, or an answer about one node.

It is JSON, compressed (`lineage.store.packed_answer`).

`python -m lineage.past --wait LOG` imports all that it needs, and then reads its other arguments from standard input, a
line with a JSON array. It ends without an answer if there is none.

`LOG` is a file, or the URL of a Postgres database, whose password is in the environment. `--state` is the state file of
the service, which has past states and an index of the history: with it, few events are read. `--question` is a JSON
array: graph, lineage, impact or origin; the id of the node; the depth or null.

Safe beside a running service: it reads one consistent snapshot and takes no lock. Exit code 3 if retention has
compacted events after that time; it then writes the earliest time that can be queried. Exit code 4 if no event until
then names the node, 5 if it is a job, which has neither impact nor origin.
"""

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lineage.events import canonical_json
from lineage.past.answers import Answer, NoDataset, Question, UnknownNode
from lineage.past.query import answer_as_of
from lineage.rules import Rules, read_rules
from lineage.rules.event_reader import EventReader
from lineage.store.as_of_protocol import COMPACTED, NO_DATASET, UNKNOWN_NODE, WAIT
from lineage.store.compression import compress
from lineage.store.graph_as_of import Compacted, FileRows, LogRows, State, export_as_of, snapshot_of_file
from lineage.store.postgres.address import PASSWORD, SCHEMES, PostgresAddress
from lineage.store.state_file import state_digest


@contextmanager
def _rows_of(location: str) -> Iterator[LogRows]:
    if not _is_postgres(location):
        with closing(snapshot_of_file(Path(location))) as connection:
            yield FileRows(connection)
        return
    # Imported here: without Postgres, the service does not need the driver.
    from lineage.store.postgres.rows_as_of import rows_of

    with rows_of(PostgresAddress(location, os.environ.get(PASSWORD))) as log:
        yield log


def _is_postgres(location: str) -> bool:
    return location.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def _question(text: str) -> Question:
    name, node, depth = json.loads(text)
    return Question(Answer(name), node, depth)


def _awaited(location: str) -> list[str]:
    """Return all arguments once those beside the location of the log have arrived."""
    if _is_postgres(location):
        import lineage.store.postgres.rows_as_of  # noqa: F401 - takes a while
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return [location, *json.loads(line)]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log")
    parser.add_argument("at", type=int)
    parser.add_argument("--question", type=_question)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--log-identity", default="", help="of the log that the state must be of")
    given = parser.parse_args(_awaited(*sys.argv[2:]) if sys.argv[1:2] == [WAIT] else None)
    rules = read_rules(given.rules) if given.rules else Rules()
    reader = EventReader(rules)
    state = State(given.state, state_digest(rules, given.log_identity)) if given.state else None
    with _rows_of(given.log) as log:
        if given.question is None:
            found = export_as_of(log, given.at, reader, state)
        else:
            found = canonical_json(answer_as_of(log, given.at, reader, given.question, state))
    sys.stdout.buffer.write(compress(found))


if __name__ == "__main__":
    # Folding makes no cycles, and the process ends with its query.
    gc.disable()
    try:
        _main()
    except Compacted as error:
        sys.stdout.write(str(error.since))
        sys.exit(COMPACTED)
    except UnknownNode:
        sys.exit(UNKNOWN_NODE)
    except NoDataset:
        sys.exit(NO_DATASET)
