# SPDX-License-Identifier: Apache-2.0
"""Error messages from recorded stack traces and registry errors."""

import json

from infra.provider.failure import MAX_CAUSE_LENGTH, add_field_names, causes, incompatible_subject

REFUSED = (
    "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
    "\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execAndHandleError(R.java:259)\n"
    "\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
    "Caused by: io.apicurio.registry.rest.client.exception.RuleViolationException: Incompatible artifact: bids-value "
    "[AVRO], num of incompatible diffs: {1}, list of diff types: [reader union lacking writer type: STRING at "
    "/fields/1/type/1]\n"
    "\tat io.apicurio.registry.rest.client.exception.ExceptionMapper.map(ExceptionMapper.java:49)\n"
    "\t... 13 more\n"
)
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "V",
        "fields": [{"name": "order_id", "type": "string"}, {"name": "price", "type": "int"}],
    }
)


def test_causes_omit_packages_and_stack_frames():
    assert causes(REFUSED) == [
        "ConnectException: Tolerance exceeded in error handler",
        "RuleViolationException: Incompatible artifact: bids-value [AVRO], num of incompatible diffs: {1}, list of "
        "diff types: [reader union lacking writer type: STRING at /fields/1/type/1]",
    ]


def test_multi_line_message_is_joined():
    trace = "a.b.FirstException: one\ntwo\n\tat a.B.c(B.java:1)\nCaused by: d.RootException: three\n  four\n\tat x\n"
    assert causes(trace) == ["FirstException: one two", "RootException: three four"]


def test_exception_that_repeats_its_cause_is_dropped():
    trace = "a.OuterException: b.InnerException: full\n\tat x\nCaused by: b.InnerException: full\n\tat y\n"
    assert causes(trace) == ["InnerException: full"]


def test_long_chain_of_causes_keeps_first_and_last_ones():
    chain = "\n".join(f"{'Caused by: ' if n else ''}p.E{n}: {n}\n\tat x" for n in range(9))
    assert causes(chain) == ["E0: 0", "...", "E5: 5", "E6: 6", "E7: 7", "E8: 8"]


def test_long_message_is_truncated_and_empty_trace_has_no_causes():
    assert len(causes("p.E: " + "x" * 9999)[0]) == MAX_CAUSE_LENGTH
    assert causes("") == []


def test_field_names_are_added_to_paths_in_registry_errors():
    assert incompatible_subject(REFUSED) == "bids-value"
    assert incompatible_subject("NullPointerException") is None
    assert add_field_names("lacking STRING at /fields/1/type/1", SCHEMA).endswith("at /fields/1/type/1 (field price)")
    assert add_field_names("must at /fields/7", SCHEMA) == "must at /fields/7"
    assert add_field_names("at /fields/0", '"string"') == "at /fields/0"
