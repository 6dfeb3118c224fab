# SPDX-License-Identifier: Apache-2.0
"""Credentials are generated once, readable by their owner alone, and survive what a shell does to them."""

import stat
import subprocess

import pytest

from infra import credentials
from infra.errors import LabError


def test_they_are_made_once_and_kept(tmp_path):
    path = tmp_path / "lab" / "credentials.env"
    first = credentials.ensure(path)
    assert set(first) == set(credentials.NAMES)
    assert credentials.ensure(path) == first == credentials.read(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_missing_one_is_added_and_the_others_stay(tmp_path):
    path = tmp_path / "credentials.env"
    credentials.write(path, credentials.render({credentials.S3_ACCESS_KEY: "mine"}))
    values = credentials.ensure(path)
    assert values[credentials.S3_ACCESS_KEY] == "mine"
    assert len(values[credentials.S3_SECRET_KEY]) == 32


def test_two_stacks_have_two_sets(tmp_path):
    assert credentials.ensure(tmp_path / "a") != credentials.ensure(tmp_path / "b")


def test_the_file_is_one_a_shell_can_source(tmp_path):
    path = tmp_path / "odd.env"
    odd = {"A": "with space", "B": "quote ' and \" and $HOME", "C": "#no comment"}
    credentials.write(path, credentials.render(odd))
    assert credentials.read(path) == odd
    script = f'. {path}; printf "%s|%s|%s" "$A" "$B" "$C"'
    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "|".join(odd.values())


def test_the_fingerprint_follows_the_values_and_shows_none(tmp_path):
    values = credentials.ensure(tmp_path / "c")
    mark = credentials.fingerprint(values)
    assert mark == credentials.fingerprint(dict(reversed(values.items())))
    assert mark != credentials.fingerprint(values | {credentials.S3_ACCESS_KEY: "other"})
    assert all(value not in mark for value in values.values())


def test_a_missing_file_says_what_makes_it_anew(tmp_path):
    with pytest.raises(LabError, match="up --refresh"):
        credentials.read(tmp_path / "gone.env")
