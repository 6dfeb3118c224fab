# SPDX-License-Identifier: Apache-2.0
"""Generation, storage and shell quoting of credentials."""

import stat
import subprocess

import pytest

from infra import credentials
from infra.errors import LabError


def test_generate_once_and_reuse(tmp_path):
    path = tmp_path / "lab" / "credentials.env"
    first = credentials.ensure(path)
    assert set(first) == set(credentials.NAMES)
    assert credentials.ensure(path) == first == credentials.read(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_add_missing_credential_and_keep_others(tmp_path):
    path = tmp_path / "credentials.env"
    credentials.write(path, credentials.render({credentials.S3_ACCESS_KEY: "mine"}))
    values = credentials.ensure(path)
    assert values[credentials.S3_ACCESS_KEY] == "mine"
    assert len(values[credentials.S3_SECRET_KEY]) == 32


def test_stacks_have_different_credentials(tmp_path):
    assert credentials.ensure(tmp_path / "a") != credentials.ensure(tmp_path / "b")


def test_shell_can_source_file(tmp_path):
    path = tmp_path / "odd.env"
    odd = {"A": "with space", "B": "quote ' and \" and $HOME", "C": "#no comment"}
    credentials.write(path, credentials.render(odd))
    assert credentials.read(path) == odd
    script = f'. {path}; printf "%s|%s|%s" "$A" "$B" "$C"'
    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "|".join(odd.values())


def test_fingerprint_changes_with_values_and_reveals_none(tmp_path):
    values = credentials.ensure(tmp_path / "c")
    mark = credentials.fingerprint(values)
    assert mark == credentials.fingerprint(dict(reversed(values.items())))
    assert mark != credentials.fingerprint(values | {credentials.S3_ACCESS_KEY: "other"})
    assert all(value not in mark for value in values.values())


def test_missing_file_error_names_remedy(tmp_path):
    with pytest.raises(LabError, match="up --refresh"):
        credentials.read(tmp_path / "gone.env")
