# SPDX-License-Identifier: Apache-2.0
"""What a refresh finds of a subject where the registry does not answer."""

from infra.model.resources import Subject
from infra.provider.kind import Call
from infra.provider.kinds.subject import SubjectKind


def subject_at(door):
    return Subject(
        registry=f"http://127.0.0.1:{door.getsockname()[1]}", name="s", avro='"string"', compatibility="NONE"
    )


def test_a_subject_of_a_registry_that_is_away_is_not_there(door):
    inputs = subject_at(door)
    door.close()
    assert SubjectKind().read(inputs, Call()) is None


def test_a_registry_whose_port_is_open_before_it_listens_is_away(door, visits):
    assert SubjectKind().read(subject_at(door), Call()) is None
    assert visits
