# SPDX-License-Identifier: Apache-2.0
"""The examples of `docs/how-to/use-your-own-clients.md`, run with the variables of `lab.env` alone.

The last module of the lab: its job, and that it is forgotten, are events that other tests would count.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest

from infra.project import PROJECT

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

PAGE = PROJECT / "docs" / "how-to" / "use-your-own-clients.md"
EXAMPLE = re.compile(
    r"^## (?P<title>[^\n]+)\n(?:(?!\n## ).)*?```(?P<language>sh|python)\n(?P<code>.*?)```", re.S | re.M
)
EXAMPLES = {found["title"]: (found["language"], found["code"]) for found in EXAMPLE.finditer(PAGE.read_text())}
SECONDS = 120


def test_every_client_of_the_page_has_an_example():
    assert list(EXAMPLES) == re.findall(r"^## (.+)$", PAGE.read_text(), re.M)
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("title", EXAMPLES)
def test_example_runs_with_the_variables_of_the_lab_alone(lab, title, tmp_path):
    language, code = EXAMPLES[title]
    program = code.split()[0]
    if language == "sh" and (shutil.which(program) is None or not works(program)):
        pytest.skip(f"{program} is not installed")
    words = [sys.executable, "-c", code] if language == "python" else ["sh", "-euc", code]
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **lab.environment}
    done = subprocess.run(
        words, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), done.stderr


def works(program):
    """Return whether a program on the path is more than a stand-in of a version manager."""
    return subprocess.run([program, "--version"], capture_output=True, timeout=SECONDS, check=False).returncode == 0


def test_the_event_of_openlineage_python_is_in_the_graph(lab):
    (job,) = lab.api("/api/v1/namespaces/my-namespace/jobs")["jobs"]
    assert job["name"] == "my_job"
    assert lab.lab("lineage", "forget", "job:my-namespace:my_job").status == 0
