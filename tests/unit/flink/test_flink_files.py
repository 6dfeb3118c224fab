# SPDX-License-Identifier: Apache-2.0
"""Tests of the launcher's state file and of finding the newest checkpoint."""

import pytest

from lineagelab_flink import checkpoints, launcher_state
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import JobLineage, LauncherState
from lineagelab_flink.lifecycle import JobState, Phase

SAVED = LauncherState(
    JobState(
        phase=Phase.OPEN,
        job_id="job",
        definition="definition",
        started=1000,
        restore="chk-2",
        restored="chk-1",
        asked=True,
        stopped=True,
        previous="another",
        failures=3,
    ),
    JobLineage("definition", [{"name": "orders"}], [{"name": "live/orders"}], {"sql": {}}),
    "BATCH",
    "2.2.1",
    "no such column",
)


def test_state_round_trip(tmp_path):
    launcher_state.save(tmp_path / "below" / "state.json", SAVED)
    assert launcher_state.load(tmp_path / "below" / "state.json") == SAVED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"memory": {}}', '{"memory": {"phase": "AWAKE"}, "described": {}}'])
def test_a_corrupt_state_file_is_ignored_with_a_warning(tmp_path, caplog, text):
    (tmp_path / "state.json").write_text(text)
    assert launcher_state.load(tmp_path / "state.json") == LauncherState()
    assert "cannot read" in caplog.text


def test_a_missing_state_file_is_an_empty_state(tmp_path, caplog):
    assert launcher_state.load(tmp_path / "state.json") == LauncherState()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("files", "number"),
    [
        (["chk-9/_metadata", "chk-10/_metadata"], 10),
        (["job/chk-9/_metadata", "job/chk-11/part-0"], 9),
        (["shared/x", "taskowned/y"], None),
        ([], None),
    ],
)
def test_the_newest_checkpoint_is_the_latest_complete_one(files, number):
    assert checkpoints.latest(files) == number


def checkpoint(folder):
    """Write the metadata of a checkpoint or savepoint and return its path for Flink."""
    folder.mkdir(parents=True)
    (folder / "_metadata").touch()
    return f"file:{folder}"


def test_the_newest_checkpoint_is_read_from_the_folder(tmp_path):
    (tmp_path / "job" / "chk-10").mkdir(parents=True)
    checkpoint(tmp_path / "job" / "chk-8")
    newest = checkpoint(tmp_path / "job" / "chk-9")
    assert checkpoints.to_restore(f"file:{tmp_path}/job/chk-5", []) == newest


def test_checkpoints_of_the_last_jobs_are_newer_than_the_known_one(tmp_path):
    known = checkpoint(tmp_path / "first" / "chk-7")
    folder = f"file:{tmp_path}/second"
    assert checkpoints.to_restore(known, [folder]) == known
    newest = checkpoint(tmp_path / "second" / "chk-8")
    assert checkpoints.to_restore(known, [folder]) == newest
    assert checkpoints.to_restore("", [folder]) == newest
    own = f"file:{tmp_path}/third"
    assert checkpoints.to_restore(known, [own, folder]) == newest
    newest_of_own = checkpoint(tmp_path / "third" / "chk-2")
    assert checkpoints.to_restore(known, [own, folder]) == newest_of_own


def test_a_job_without_state_restores_nothing(tmp_path):
    assert checkpoints.to_restore("", []) == ""
    assert checkpoints.to_restore("", [f"file:{tmp_path}/job"]) == ""


def test_a_savepoint_is_restored_as_it_is(tmp_path):
    savepoint = checkpoint(tmp_path / "savepoint-1")
    assert checkpoints.to_restore(savepoint, []) == savepoint


@pytest.mark.parametrize(("name", "what"), [("savepoint-1", "savepoint"), ("job/chk-3", "checkpoint")])
def test_a_deleted_savepoint_or_checkpoint_is_an_error_with_a_remedy(tmp_path, name, what):
    (tmp_path / "job").mkdir()
    with pytest.raises(FlinkError, match=rf"^the {what} file:.*/{name}, from which the job continues, does not exist"):
        checkpoints.to_restore(f"file:{tmp_path}/{name}", [])


def test_a_folder_of_another_machine_is_left_to_flink(tmp_path):
    known = f"file:{tmp_path}/elsewhere/savepoints/savepoint-1"
    assert checkpoints.to_restore(known, []) == known
