# SPDX-License-Identifier: Apache-2.0
"""Tests of the problems of submitted jobs in `lab status`."""

from infra.cli.job_problems import job_problems
from infra.provider.notes import launcher_problem


def test_only_jobs_with_a_problem_are_named_by_their_launcher(tmp_path):
    (tmp_path / "windows.json").write_text('{"problem": "has failed"}')
    (tmp_path / "copies.json").write_text('{"problem": ""}')
    (tmp_path / "damaged.json").write_text('{"prob')
    names = ("windows", "copies", "damaged", "missing")
    launched = [{"inputs": {"launcher": name, "notes": str(tmp_path / f"{name}.json")}} for name in names]
    other = [{"type": "pulumi:pulumi:Stack"}, {"inputs": {"name": "orders"}}, {"inputs": {"launcher": "bare"}}]
    assert job_problems([*launched, *other], launcher_problem) == {"windows": "has failed"}
