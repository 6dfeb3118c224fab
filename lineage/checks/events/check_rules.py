# SPDX-License-Identifier: Apache-2.0
"""Rules of the event check: code (stable across versions), severity, meaning and remedy."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """Severity of a rule. Errors violate the standard or lose lineage; warnings are likely to."""

    ERROR = "error"
    WARNING = "warning"


class Rule(NamedTuple):
    """A rule. `meaning` describes its violation, `remedy` the change of the emitter that ends it."""

    code: str
    severity: Severity
    meaning: str
    remedy: str


RULES: dict[str, Rule] = {}
"""All rules by code."""


def _define_rule(severity: Severity, code: str, meaning: str, remedy: str) -> Rule:
    rule = RULES[code] = Rule(code, severity, meaning, remedy)
    return rule


def _define_error(code: str, meaning: str, remedy: str) -> Rule:
    return _define_rule(Severity.ERROR, code, meaning, remedy)


def _define_warning(code: str, meaning: str, remedy: str) -> Rule:
    return _define_rule(Severity.WARNING, code, meaning, remedy)


NO_EVENTS = _define_error(
    "no-events", "the source contains no event", "check that the emitter is configured and its transport writes here"
)
NOT_JSON = _define_error("not-json", "not valid JSON (RFC 8259)", "write one JSON object per line, in UTF-8")
NOT_AN_EVENT = _define_error("not-an-event", "JSON, but not an event", "an event has run and job, or job, or dataset")
TOO_LARGE = _define_error("too-large", "exceeds the size limit", "leave out large facets such as query plans")

MISSING_KEY = _define_error("missing-key", "a key that the standard requires is missing", "add the key")
WRONG_VALUE = _define_error(
    "wrong-value", "a value that the standard's schema rejects", "write the required type or format"
)
NO_URI = _define_error("no-uri", "a producer or schema URL that is not a URI", "write an absolute URI")
FACET_UNKNOWN = _define_warning(
    "facet-unknown",
    "a facet that is not in the standard and has no prefix in its key",
    "name a custom facet {prefix}_{name} and give it its own _schemaURL",
)
FACET_SCHEMA = _define_warning(
    "facet-schema", "_schemaURL does not name the schema of this facet", "take the URL from the facet's definition"
)
SCHEMA_OUTDATED = _define_warning(
    "schema-outdated", "the schema URL names an older version of the standard", "update the emitter's client"
)
NO_EVENT_TYPE = _define_warning(
    "no-event-type", "a run event without eventType; Marquez responds with 500", "set it, to OTHER if none applies"
)
REFUSED = _define_error("refused", "the lineage service rejects this event", "change the value as the message says")

RUN_NO_START = _define_error(
    "run-no-start", "the first event of a bounded run is not START", "send START when the run begins"
)
RUN_SECOND_START = _define_warning(
    "run-second-start", "a second START in one run", "send START once; use RUNNING afterwards"
)
RUN_NO_END = _define_error(
    "run-no-end",
    "a bounded run without a terminal event",
    "send COMPLETE, FAIL or ABORT, also when the process is stopped",
)
RUN_SECOND_END = _define_error(
    "run-second-end",
    "a second terminal event; consumers that process events by arrival keep the last one",
    "send exactly one",
)
RUN_TWO_VOICES = _define_warning(
    "run-two-voices",
    "two producers send the same start or terminal event of one run; Marquez stores both",
    "let one producer send it if the other is not needed",
)
RUN_AFTER_END = _define_error(
    "run-after-end",
    "START or RUNNING after the terminal event; Marquez shows the run as running again",
    "send only OTHER after the terminal event",
)
RUN_TIME_BACK = _define_error(
    "run-time-back",
    "earlier than a preceding event of the run",
    "send the events of a run in order, with times of one clock",
)
RUN_TWO_JOBS = _define_error(
    "run-two-jobs", "one run id in two jobs", "use one run id per job; link the runs by parent"
)
RUN_DUPLICATE = _define_warning(
    "run-duplicate", "the same event twice; Marquez stores both", "check why the emitter sends it twice"
)
RUN_BARE = _define_warning(
    "run-bare",
    "no datasets, though the run has named some: consumers that process each event by itself lose the edges",
    "name all inputs and outputs in every event",
)
RUN_DATASETS_LOST = _define_error(
    "run-datasets-lost",
    "an event of a streaming run omits datasets that an earlier one named: their edges are lost",
    "name all inputs and outputs in every event; start a new run when they change",
)
RUN_DATASETS_LATE = _define_warning(
    "run-datasets-late",
    "a streaming run names datasets that its first events did not: from the second run on Marquez loses their edges",
    "name all inputs and outputs from START on",
)
NO_JOB_TYPE = _define_warning("no-job-type", "no jobType facet: BATCH is assumed", "add jobType to every event")
JOB_TYPE_DROPPED = _define_warning(
    "job-type-dropped",
    "no jobType facet, though an earlier event of the run has one: consumers assume BATCH from here on",
    "add jobType to every event",
)
NO_EMISSION_PATTERN = _define_warning(
    "no-emission-pattern",
    "a streaming job without jobType.emissionPattern: EVENT_BASED and ACCUMULATIVE are assumed",
    "add when events are emitted and whether each one is complete",
)
NO_WINDOW = _define_error(
    "no-window", "PERIODIC and COMPLETE_SNAPSHOT without windowDuration", "add the seconds between two events"
)
NO_ERROR_MESSAGE = _define_warning(
    "no-error-message", "FAIL without an errorMessage facet", "add the cause of the failure"
)

NAME_EMPTY = _define_error("name-empty", "an empty namespace or name", "set it, or give --rules that derive it")
NAME_UNUSABLE = _define_error(
    "name-unusable",
    "a name that is too long or contains control characters",
    "write at most 1024 printable characters",
)
NAMESPACE_HOSTS = _define_error(
    "namespace-hosts",
    "several hosts in one namespace; Marquez responds with 400, and each order of hosts is a different cluster",
    "write one canonical bootstrap host:port everywhere",
)
NAMESPACE_CHARACTERS = _define_warning(
    "namespace-characters", "'?' or '=' in a namespace; Marquez responds with 400", "remove parameters"
)
NAMESPACE_PORT = _define_warning(
    "namespace-port", "a Kafka namespace without port", "write kafka://host:port, as the standard names clusters"
)
S3_SCHEME = _define_error(
    "s3-scheme", "a namespace with Hadoop's scheme: not the dataset under s3://", "write s3://bucket"
)
LEADING_SLASH = _define_error("leading-slash", "an object's name with a leading slash", "write the key without it")
TWO_SPELLINGS = _define_warning(
    "two-spellings",
    "probably one dataset under two names, which become two datasets in the graph",
    "write one name, or give --rules that map both to it",
)
SOURCE_NO_INPUT = _define_error(
    "source-no-input",
    "column lineage names a dataset that is not an input of the run: Marquez drops these columns",
    "name the dataset among the inputs, under the same name",
)
COLUMN_NOT_IN_SCHEMA = _define_error(
    "column-not-in-schema",
    "column lineage of a column that the output's schema does not list: Marquez drops it",
    "write the column as in the schema, or complete the schema",
)
SOURCE_NOT_IN_SCHEMA = _define_warning(
    "source-not-in-schema",
    "column lineage from a column that the input's schema does not list: Marquez drops it",
    "write the column as in the schema, or complete the schema",
)
JOB_NAME_PER_RUN = _define_warning(
    "job-name-per-run",
    "the job's name contains a date, a timestamp or a UUID: every run becomes a new job",
    "move what differs between runs into facets of the run",
)
