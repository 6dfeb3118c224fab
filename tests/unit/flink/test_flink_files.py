# SPDX-License-Identifier: Apache-2.0
"""Tests of the launcher's state file and of finding the newest checkpoint."""

import pytest

from lineagelab_flink import checkpoints, launcher_state
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


def test_the_newest_checkpoint_is_read_from_the_folder(tmp_path):
    for number in (8, 9, 10):
        (tmp_path / f"chk-{number}").mkdir()
    (tmp_path / "chk-8" / "_metadata").touch()
    (tmp_path / "chk-9" / "_metadata").touch()
    assert checkpoints.newest_in_folder(f"file:{tmp_path}/chk-5") == f"file:{tmp_path}/chk-9"
    assert checkpoints.newest_in_folder(f"file:{tmp_path}/savepoint-1") == f"file:{tmp_path}/savepoint-1"
    assert checkpoints.newest_in_folder("") == ""
