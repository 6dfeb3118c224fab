# SPDX-License-Identifier: Apache-2.0
"""Notes of services in running and stopped containers."""

import pytest

from infra.provider.notes import read_notes
from infra.targets.docker.container_notes import container_location
from infra.targets.kinds import KINDS

assert KINDS  # its module registers the reader of container files


@pytest.fixture
def container(daemon, base_image):
    """A container that writes a note and exits."""
    created = daemon.containers.create(base_image, ["/bin/sh", "-c", 'printf \'{"problem": "ä"}\' > /note.json'])
    yield created
    created.remove(force=True, v=True)


def test_a_note_in_an_exited_container_is_read(container):
    location = container_location(container.name, "/note.json")
    with pytest.raises(FileNotFoundError, match=r"has no file /note\.json"):
        read_notes(location)
    container.start()
    container.wait()
    assert read_notes(location) == '{"problem": "ä"}'


def test_a_missing_container_has_no_notes(daemon):
    with pytest.raises(FileNotFoundError, match="lab-test-missing has no file /note"):
        read_notes(container_location("lab-test-missing", "/note"))


def test_a_note_on_this_machine_is_read_from_its_path(tmp_path):
    (tmp_path / "note.json").write_text("{}")
    assert read_notes(str(tmp_path / "note.json")) == "{}"
    with pytest.raises(FileNotFoundError):
        read_notes(str(tmp_path / "missing.json"))
