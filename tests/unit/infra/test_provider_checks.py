# SPDX-License-Identifier: Apache-2.0
"""Validation of inputs that are unknown during a preview, and import of resources by id."""

from types import SimpleNamespace

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.rpc import UNKNOWN

from infra.provider.server import LabkitProvider
from infra.targets.kinds import KINDS

PROPERTIES = [
    (kind, field.alias) for kind in KINDS for field in KINDS[kind].inputs.model_fields.values() if not field.exclude
]


class Refused(Exception):
    """An error response of the provider."""


def refuse(code, text):
    raise Refused(text)


CONTEXT = SimpleNamespace(abort=refuse)


@pytest.fixture
def provider():
    return LabkitProvider(KINDS, "127.0.0.1:1")


def struct(values):
    return ParseDict(values, Struct())


def urn(kind):
    return f"urn:pulumi:dev::lab::labkit:index:{kind}::it"


def all_unknown(kind):
    return {field.alias: UNKNOWN for field in KINDS[kind].inputs.model_fields.values() if not field.exclude}


@pytest.mark.parametrize(("kind", "name"), PROPERTIES, ids="-".join)
@pytest.mark.parametrize("value", [UNKNOWN, [UNKNOWN], {"key": UNKNOWN}], ids=["whole", "in_list", "in_map"])
def test_an_unknown_input_passes_the_check(provider, kind, name, value):
    news = all_unknown(kind) | {name: value}
    checked = provider.Check(pb.CheckRequest(urn=urn(kind), news=struct(news)), CONTEXT)
    assert list(checked.failures) == []
    assert MessageToDict(checked.inputs) == news


@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_creates_with_unknown_inputs(provider, kind):
    properties = struct(all_unknown(kind))
    created = provider.Create(pb.CreateRequest(urn=urn(kind), properties=properties, preview=True), CONTEXT)
    assert created.properties == properties


def test_known_inputs_are_checked_beside_unknown_ones(provider):
    news = all_unknown("Topic") | {"partitions": "two", "colour": "red"}
    failures = provider.Check(pb.CheckRequest(urn=urn("Topic"), news=struct(news)), CONTEXT).failures
    assert sorted(failure.property for failure in failures) == ["colour", "partitions"]


@pytest.mark.parametrize("kind", KINDS)
def test_import_by_id_is_refused_with_the_way_to_adopt(provider, kind):
    with pytest.raises(Refused, match=rf"cannot import {kind} orders by its id.*declare it"):
        provider.Read(pb.ReadRequest(id="orders", urn=urn(kind)), CONTEXT)
