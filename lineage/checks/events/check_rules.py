# SPDX-License-Identifier: Apache-2.0
"""Every rule: its code, which stays the same from version to version, how severe it is, and what to do."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """Whether an event breaks the standard or loses lineage (error), or is likely to (warning)."""

    ERROR = "error"
    WARNING = "warning"


class Rule(NamedTuple):
    """A rule. `meaning` says what is wrong where it strikes, `remedy` what to do about it."""

    code: str
    severity: Severity
    meaning: str
    remedy: str


RULES: dict[str, Rule] = {}


def _rule(severity: Severity, code: str, meaning: str, remedy: str) -> Rule:
    rule = RULES[code] = Rule(code, severity, meaning, remedy)
    return rule


def _error(code: str, meaning: str, remedy: str) -> Rule:
    return _rule(Severity.ERROR, code, meaning, remedy)


def _warning(code: str, meaning: str, remedy: str) -> Rule:
    return _rule(Severity.WARNING, code, meaning, remedy)


NO_EVENTS = _error(
    "no-events", "the source holds no event", "see that the emitter is configured and its transport writes here"
)
NOT_JSON = _error("not-json", "not JSON that every consumer reads alike", "write one JSON object a line, in UTF-8")
NOT_AN_EVENT = _error("not-an-event", "JSON, but no event", "an event has run and job, or job, or dataset")
TOO_LARGE = _error("too-large", "too large to be read", "leave out large facets such as query plans")

MISSING_KEY = _error("missing-key", "a key that the standard requires is missing", "add the key")
WRONG_VALUE = _error("wrong-value", "a value of another type or form than the standard's", "write what it asks for")
NO_URI = _error("no-uri", "a producer or schema URL that is no URI", "write an absolute URI")
FACET_UNKNOWN = _warning(
    "facet-unknown",
    "a facet that the standard does not know, without a prefix in its key",
    "name a custom facet {prefix}_{name} and give it a _schemaURL of its own",
)
FACET_SCHEMA = _warning(
    "facet-schema", "_schemaURL does not name the schema of this facet", "take the URL from the facet's definition"
)
SCHEMA_OUTDATED = _warning(
    "schema-outdated", "the schema URL names an older version of the standard", "update the emitter's client"
)
SPECIFICATION = _error(
    "specification", "the standard's own JSON schema refuses it (--spec)", "change the value as the message says"
)
NO_EVENT_TYPE = _warning(
    "no-event-type", "a run event without eventType; Marquez answers 500 to it", "write one, OTHER where none fits"
)
REFUSED = _error("refused", "the lineage service refuses this event", "change the value as the message says")

RUN_NO_START = _error(
    "run-no-start", "the first event of a bounded run is no START", "send START when the first task is there"
)
RUN_SECOND_START = _warning("run-second-start", "a second START in one run", "send START once; use RUNNING afterwards")
RUN_NO_END = _error(
    "run-no-end", "a bounded run never ends", "send COMPLETE, FAIL or ABORT, also when the process is stopped"
)
RUN_SECOND_END = _error(
    "run-second-end", "a second terminal event; consumers that go by arrival take the last one", "send exactly one"
)
RUN_TWO_VOICES = _warning(
    "run-two-voices",
    "two producers tell the same start or end of one run; Marquez stores both",
    "let one of them speak where only one is needed",
)
RUN_AFTER_END = _error(
    "run-after-end",
    "START or RUNNING after the terminal event; Marquez shows the run as running again",
    "send nothing but OTHER after the end",
)
RUN_TIME_BACK = _error(
    "run-time-back", "earlier than an event of the run before it", "send the events of a run in order, by one clock"
)
RUN_TWO_JOBS = _error("run-two-jobs", "one run id in two jobs", "make a run id for each job; tie them by parent")
RUN_DUPLICATE = _warning("run-duplicate", "the same event again", "see why it was sent twice; Marquez stores both")
RUN_BARE = _warning(
    "run-bare",
    "no datasets, though the run has named some: consumers that read events one by one lose the edges",
    "name all inputs and outputs in every event",
)
RUN_DATASETS_LOST = _error(
    "run-datasets-lost",
    "an event of a streaming run leaves out datasets that an earlier one named: their edges are lost",
    "name all inputs and outputs in every event; begin a new run where they really change",
)
RUN_DATASETS_LATE = _warning(
    "run-datasets-late",
    "a streaming run names datasets that its first events did not: from the second run on Marquez loses their edges",
    "name all inputs and outputs from START on",
)
NO_JOB_TYPE = _warning("no-job-type", "no jobType facet: taken for BATCH", "add jobType to every event")
JOB_TYPE_DROPPED = _warning(
    "job-type-dropped",
    "no jobType facet, though the run has had one: consumers take the job for BATCH from here on",
    "add jobType to every event",
)
NO_EMISSION_PATTERN = _warning(
    "no-emission-pattern",
    "a streaming job without jobType.emissionPattern: taken for event-based and accumulative",
    "say when it emits and whether an event is complete in itself",
)
NO_WINDOW = _error(
    "no-window", "PERIODIC and COMPLETE_SNAPSHOT without windowDuration", "write the seconds between two events"
)
NO_ERROR_MESSAGE = _warning("no-error-message", "FAIL without an errorMessage facet", "say why the run failed")

NAME_EMPTY = _error("name-empty", "an empty namespace or name", "name it, or give --rules that know which it is")
NAME_UNUSABLE = _error(
    "name-unusable", "a name that is too long or holds control characters", "write at most 1024 printable characters"
)
NAMESPACE_HOSTS = _error(
    "namespace-hosts",
    "several hosts in one namespace; Marquez answers 400, and each order of hosts is another cluster",
    "write one canonical bootstrap host:port everywhere",
)
NAMESPACE_CHARACTERS = _warning(
    "namespace-characters", "'?' or '=' in a namespace; Marquez answers 400", "leave parameters out of the namespace"
)
NAMESPACE_PORT = _warning(
    "namespace-port", "a Kafka namespace without port", "write kafka://host:port, as the standard names clusters"
)
S3_SCHEME = _error("s3-scheme", "a namespace of Hadoop's scheme: another dataset than under s3://", "write s3://bucket")
LEADING_SLASH = _error("leading-slash", "an object's name with a leading slash", "write the key without it")
TWO_SPELLINGS = _warning(
    "two-spellings",
    "what is likely one dataset goes under two spellings, and so becomes two in the graph",
    "write one spelling, or give --rules that know both",
)
SOURCE_NO_INPUT = _error(
    "source-no-input",
    "column lineage names a dataset that is no input of the run: Marquez drops these columns",
    "name the dataset among the inputs, under the same spelling",
)
COLUMN_NOT_IN_SCHEMA = _error(
    "column-not-in-schema",
    "column lineage of a column that the output's schema does not list: Marquez drops it",
    "write the column as the schema does, or complete the schema",
)
SOURCE_NOT_IN_SCHEMA = _warning(
    "source-not-in-schema",
    "column lineage from a column that the input's schema does not list: Marquez drops it",
    "write the column as the schema does, or complete the schema",
)
JOB_NAME_PER_RUN = _warning(
    "job-name-per-run",
    "the job's name holds a date, a time or a UUID: every run becomes a job of its own",
    "put what differs from run to run into facets of the run",
)
