# SPDX-License-Identifier: Apache-2.0
"""Parsing of events and its error messages."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lineage_events import body, dataset, dataset_event, facet, original, read, recorded_lines, source

from lineage.events import EventError, InvalidEvent, MalformedJson, canonical_json, event_of, parse_json, read_original
from lineage.events.batch import split_array
from lineage.events.event import ORDER_HASH_BYTES
from lineage.events.facet_shapes import ColumnLineage, Schema, has_shape
from lineage.events.strict_json import MAX_DEPTH
from lineage.events.timestamps import format_time, parse_time
from lineage.events.validation import check_column_lineage_values, check_schema_values


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        (b'{"a": }', "Expecting value at line 1 column 7", 6),
        (b'{"a": 1', "Expecting ',' delimiter", 7),
        (b"", "Expecting value", 0),
        (b'{"a": NaN}', "NaN is not JSON", None),
        (b'{"a": -Infinity}', "-Infinity is not JSON", None),
        (b'{"a": 1e999}', "out of range", None),
        (b'{"a": 9223372036854775808}', "does not fit in 64 bits", None),
        (b'{"a": ' + b"9" * 5000 + b"}", "does not fit in 64 bits", None),
        (rb'{"a": "\ud800"}', "surrogate", None),
        (rb'{"\udc00": 1}', "surrogate", None),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8", 7),
        (b"[" * 101 + b"]" * 101, "deeper than 100", None),
        (b"[" * 100_000, "deeper than 100", None),
    ],
)
def test_json_with_ambiguous_interpretation_is_rejected(text, message, position):
    with pytest.raises(MalformedJson, match=message) as caught:
        parse_json(text)
    assert caught.value.position == position


_LEVELS = st.sampled_from(
    [b"[%s]", b'{"a":%s}', b'["]",%s]', b'["[",%s]', b'[%s,"{}"]', b'{"}{":%s}', rb'["\"[",%s]', b"[[],%s]"]
)


@given(st.lists(_LEVELS, min_size=90, max_size=110))
@example([b"[[],%s]", *[b"[%s]"] * (MAX_DEPTH - 2)])
@example([b"[[],%s]", *[b"[%s]"] * (MAX_DEPTH - 1)])
def test_nesting_is_limited_whatever_strings_contain(levels):
    text = b'["]["]'
    for level in levels:
        text = level % text
    if len(levels) + 1 > MAX_DEPTH:
        with pytest.raises(MalformedJson, match="deeper than 100"):
            parse_json(text)
    else:
        assert parse_json(text)


def test_brackets_in_strings_do_not_hide_nesting():
    deep = b'["]",' * 101 + b"0" + b',"["]' * 101
    with pytest.raises(MalformedJson, match="deeper than 100"):
        parse_json(deep)


def test_extreme_portable_json_values_are_preserved():
    text = r'{"a": [9223372036854775807, -9223372036854775808, "\ud83d\ude00", 1.5e300, true, null]}'
    value = parse_json(text.encode())
    assert value == {"a": [2**63 - 1, -(2**63), "😀", 1.5e300, True, None]}
    assert parse_json(canonical_json(value)) == value


def _without(key):
    content = body()
    del content[key]
    return content


def _with(**changes):
    return {**body(), **changes}


def _output(**changes):
    return body(outputs=[{**dataset("orders"), **changes}])


def _output_facet(**facets):
    return _output(facets=facets)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ([], ""),
        (None, ""),
        (_without("eventTime"), "eventTime"),
        (_without("producer"), "producer"),
        (_without("schemaURL"), "schemaURL"),
        (_without("job"), "job"),
        ({k: v for k, v in body().items() if k not in ("job", "run")}, "job"),
        (_with(dataset=dataset("x")), "dataset"),
        (_with(eventType="NOPE"), "eventType"),
        (_with(eventType=1), "eventType"),
        (_with(eventType=[]), "eventType"),
        (_with(eventTime="yesterday"), "eventTime"),
        (_with(eventTime="2026-01-01T00:00:00"), "eventTime"),
        (_with(eventTime="2026-02-30T00:00:00Z"), "eventTime"),
        (_with(eventTime="9999-01-01T00:00:00Z"), "eventTime"),
        (_with(eventTime="1960-01-01T00:00:00Z"), "eventTime"),
        (_with(run={"runId": "42"}), "run.runId"),
        (_with(run={}), "run.runId"),
        (_with(job={"namespace": "", "name": "x"}), "job.namespace"),
        (_with(job={"namespace": "n", "name": " "}), "job.name"),
        (_with(job={"namespace": "n", "name": 7}), "job.name"),
        (_with(job={"namespace": "n", "name": "a\nb"}), "job.name"),
        (_with(job={"namespace": "n", "name": "x" * 1025}), "job.name"),
        (_with(inputs={}), "inputs"),
        (_with(inputs=[None]), "inputs[0]"),
        (_with(inputs=[{"name": "x"}]), "inputs[0].namespace"),
        (_with(inputs=[{"namespace": "n", "name": None}]), "inputs[0].name"),
        (_output(namespace="", name="x"), "outputs[0].namespace"),
        (_output(namespace="", name="lake."), "outputs[0].namespace"),
        (_output(name=""), "outputs[0].name"),
        (_output(name="a\u0000b"), "outputs[0].name"),
        (_output(facets=[]), "outputs[0].facets"),
        (_output(outputFacets=1), "outputs[0].outputFacets"),
        (_output_facet(schema=[]), "outputs[0].facets.schema"),
        (_output_facet(schema=facet(fields=[{}])), "outputs[0].facets.schema.fields[0].name"),
        (
            _output_facet(symlinks=facet(identifiers=[{"namespace": "", "name": "a", "type": "TABLE"}])),
            "outputs[0].facets.symlinks.identifiers[0].namespace",
        ),
        (_output_facet(columnLineage=facet()), "outputs[0].facets.columnLineage.fields"),
        (
            _output_facet(columnLineage=facet(fields={"a": {}})),
            "outputs[0].facets.columnLineage.fields.a.inputFields",
        ),
        (
            _output_facet(columnLineage=facet(fields={}, dataset=[{"namespace": "", "name": "x", "field": "y"}])),
            "outputs[0].facets.columnLineage.dataset[0].namespace",
        ),
        (
            body(job_facets={"lineage": {"entries": [{"type": "TABLE"}]}}),
            "job.facets.lineage.entries[0].type",
        ),
        (body(job_facets={"lineage": {}}), "job.facets.lineage.entries"),
        (body(run_facets={"parent": {"run": {"runId": "x"}}}), "run.facets.parent.run.runId"),
    ],
)
def test_invalid_event_is_rejected_with_the_field_name(content, field):
    with pytest.raises(InvalidEvent) as caught:
        read(content)
    assert caught.value.field == field


def test_each_kind_of_event_is_parsed():
    assert read(body()).kind == "run"
    assert read(body(run=None)).kind == "job"
    assert read(dataset_event(0, dataset("orders"))).dataset == ("s3://warehouse", "orders")


def test_run_event_without_type_is_other():
    assert read(body(event_type=None)).event_type == "OTHER"


def test_run_ids_are_case_insensitive():
    content = body()
    content["run"]["runId"] = "ABCDEFAB-0000-7000-8000-000000000001"
    assert read(content).run.run == "abcdefab-0000-7000-8000-000000000001"


def test_deleted_facets_need_no_content():
    tombstone = {**facet(), "_deleted": True}
    deleted = {"columnLineage": tombstone, "lineage": tombstone, "symlinks": tombstone}
    assert read(_output(facets=deleted)).body["outputs"][0]["facets"] == deleted


def test_hash_depends_on_content_not_on_formatting():
    content = body(outputs=[dataset("orders", columnLineage={"fields": {"a": {"inputFields": []}}})])
    reordered = json.loads(json.dumps(content, sort_keys=True, indent=3))
    assert read(content).order == read(reordered).order
    assert read(content).hash != read({**content, "eventType": "RUNNING"}).hash


def test_stored_event_parses_to_an_equal_event():
    first = read(body(inputs=[dataset("orders")], outputs=[dataset("x", columnLineage={"fields": {}})]))
    assert read_original(first.original.data) == first.original


SKEW = 5 * 60 * 10**9


@pytest.mark.parametrize(
    ("ahead", "effective"),
    [(-(10**9), -(10**9)), (0, 0), (SKEW, SKEW), (SKEW + 1, SKEW), (200 * 365 * 86400 * 10**9, SKEW)],
)
def test_effective_time_is_at_most_five_minutes_after_the_first_acceptance(ahead, effective):
    made = original("COMPLETE", 0)
    accepted = made.time - ahead
    found = event_of(made, made.body, accepted)
    assert found.order == (accepted + effective, made.hash[:ORDER_HASH_BYTES])
    assert found.clamped is (ahead > SKEW)


def test_elements_of_a_batch_are_cut_as_they_came():
    assert split_array(b' [ {"b": 1.00, "a" : [1, 2]} ,\n 3,"x,[" ] ') == [b'{"b": 1.00, "a" : [1, 2]}', b"3", b'"x,["']


@pytest.mark.parametrize("data", [b"", b"[1", b"[NaN]", b"[1,]", b"[" * 200_000, b"{}", b"1", b"[1] 2"])
def test_what_is_not_an_array_is_no_batch(data):
    with pytest.raises(EventError):
        split_array(data)


def test_every_recorded_event_is_accepted_and_canonical():
    for line in recorded_lines():
        once = read(json.loads(line))
        assert read(once.body).body == once.body


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1970-01-01T00:00:01Z", 10**9),
        ("1970-01-01T00:00:00.123456789Z", 123456789),
        ("1970-01-01T00:00:00.1234567899Z", 123456789),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01t00:00:00.5z", 5 * 10**8),
    ],
)
def test_event_times_keep_nanoseconds(text, nanos):
    assert parse_time(text) == nanos


def test_times_are_formatted_with_microseconds():
    assert format_time(parse_time("2026-11-21T03:40:19.990673348Z")) == "2026-11-21T03:40:19.990673Z"


def test_column_sources_must_name_a_field():
    content = _output_facet(columnLineage=facet(fields={"a": {"inputFields": [{**source("x", "y"), "field": ""}]}}))
    with pytest.raises(InvalidEvent, match=r"inputFields\[0\].field: is empty"):
        read(content)


def changed_everywhere(value):
    """Yield copies of JSON with one value replaced, removed, or one key added, at every place."""
    yield from (None, True, 7, 1.5, "", "x", "y" * 5_000, [], {}, [{}], [None], {"": {}}, {"fields": None})
    if isinstance(value, dict):
        for key, part in value.items():
            yield {name: kept for name, kept in value.items() if name != key}
            yield {**value, "": part}
            yield from ({**value, key: changed} for changed in changed_everywhere(part))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from ([*value[:at], changed, *value[at + 1 :]] for changed in changed_everywhere(part))


SOURCE = {"namespace": "n", "name": "d", "field": "f", "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]}
NESTED = {"name": "a", "type": "struct", "fields": [{"name": "b", "type": None}]}


@pytest.mark.parametrize(
    ("shape", "check", "facet"),
    [
        (Schema, check_schema_values, {"fields": [NESTED, {"name": "c"}]}),
        (
            ColumnLineage,
            check_column_lineage_values,
            {"fields": {"a": {"inputFields": [SOURCE]}, "b": {"inputFields": []}}, "dataset": [SOURCE]},
        ),
    ],
)
def test_the_fast_check_accepts_only_what_the_exact_one_accepts(shape, check, facet):
    assert has_shape(facet, shape)
    check(facet, "")
    accepted = 0
    for changed in filter(lambda found: isinstance(found, dict), changed_everywhere(facet)):
        if has_shape(changed, shape):
            check(changed, "")
            accepted += 1
    assert accepted > 20
