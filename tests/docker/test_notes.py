# SPDX-License-Identifier: Apache-2.0
"""A service's note is read where the service runs, be it stopped."""

import pytest

from infra.provider.notes import read_notes
from infra.targets.docker.container_notes import container_location
from infra.targets.kinds import KINDS

assert KINDS  # registers the reader of containers


@pytest.fixture
def container(daemon, base_image):
    """A container that writes a note and ends."""
    made = daemon.containers.create(base_image, ["/bin/sh", "-c", 'printf \'{"problem": "ä"}\' > /note.json'])
    yield made
    made.remove(force=True, v=True)


def test_a_note_of_a_container_is_read(container):
    place = container_location(container.name, "/note.json")
    with pytest.raises(FileNotFoundError, match=r"has no /note\.json"):
        read_notes(place)
    container.start()
    container.wait()
    assert read_notes(place) == '{"problem": "ä"}'


def test_a_container_that_is_not_there_has_no_notes(daemon):
    with pytest.raises(FileNotFoundError, match="lab-test-nobody has no /note"):
        read_notes(container_location("lab-test-nobody", "/note"))


def test_a_note_on_this_machine_is_a_file(tmp_path):
    (tmp_path / "note.json").write_text("{}")
    assert read_notes(str(tmp_path / "note.json")) == "{}"
    with pytest.raises(FileNotFoundError):
        read_notes(str(tmp_path / "nothing.json"))
