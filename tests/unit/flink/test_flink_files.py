# SPDX-License-Identifier: Apache-2.0
"""What launchers keep in files: their state, and the newest checkpoint."""

import pytest

from lineagelab_flink import checkpoints, launcher_state
from lineagelab_flink.launcher_state import JobLineage, LauncherState
from lineagelab_flink.lifecycle import JobState, Phase

REMEMBERED = LauncherState(
    JobState(Phase.OPEN, "job", "definition", 1000, "chk-2", "chk-1", True, 3),
    JobLineage("definition", [{"name": "orders"}], [{"name": "live/orders"}], {"sql": {}}),
    "BATCH",
    "2.2.1",
    "no such column",
)


def test_what_is_remembered_comes_back(tmp_path):
    launcher_state.save(tmp_path / "below" / "state.json", REMEMBERED)
    assert launcher_state.load(tmp_path / "below" / "state.json") == REMEMBERED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"memory": {}}', '{"memory": {"phase": "AWAKE"}, "described": {}}'])
def test_a_damaged_file_is_forgotten_and_said(tmp_path, caplog, text):
    (tmp_path / "state.json").write_text(text)
    assert launcher_state.load(tmp_path / "state.json") == LauncherState()
    assert "cannot read" in caplog.text


def test_there_may_be_nothing_to_remember(tmp_path, caplog):
    assert launcher_state.load(tmp_path / "state.json") == LauncherState()
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("there", "number"),
    [
        (["chk-9/_metadata", "chk-10/_metadata"], 10),
        (["job/chk-9/_metadata", "job/chk-11/part-0"], 9),
        (["shared/x", "taskowned/y"], None),
        ([], None),
    ],
)
def test_the_newest_checkpoint_is_the_last_whole_one(there, number):
    assert checkpoints.latest(there) == number


def test_the_folder_knows_better_than_who_looked_a_while_ago(tmp_path):
    for number in (8, 9, 10):
        (tmp_path / f"chk-{number}").mkdir()
    (tmp_path / "chk-8" / "_metadata").touch()
    (tmp_path / "chk-9" / "_metadata").touch()
    assert checkpoints.newest(f"file:{tmp_path}/chk-5") == f"file:{tmp_path}/chk-9"
    assert checkpoints.newest(f"file:{tmp_path}/savepoint-1") == f"file:{tmp_path}/savepoint-1"
    assert checkpoints.newest("") == ""
