# SPDX-License-Identifier: Apache-2.0
"""Launch scripts do what they say when a shell runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.model import Binary, Java, Prepare, Python, Service, Task
from infra.targets.launch_script import Launcher


class Programs:
    def component(self, name):
        return Path("/cache/components") / name

    def python(self, environment):
        return Path(sys.executable)

    def binary(self, name):
        return Path("/bin") / name


@pytest.fixture
def launcher(tmp_path):
    (tmp_path / "credentials.env").write_text("S3_SECRET_KEY='se cret'\nOTHER=kept\n")
    return Launcher(Programs(), "/jdk/bin/java", tmp_path, tmp_path / "credentials.env")


def shown(script):
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout


def test_it_passes_arguments_and_variables_unharmed(launcher, tmp_path):
    odd = "two words; $HOME 'quoted'"
    run = Binary("sh", ("-c", 'printf "%s|%s|%s" "$1" "$ODD" "$TMPDIR"', "sh", odd))
    task = Task("t", run, env={"ODD": odd})
    assert shown(launcher.script(task, tmp_path / "s")) == f"{odd}|{odd}|{tmp_path / 's'}"


def test_a_secret_reaches_the_process_and_is_not_in_the_script(launcher, tmp_path):
    run = Binary("sh", ("-c", 'printf "%s|%s" "$KEY" "${OTHER-unset}"'))
    script = launcher.script(Task("t", run, secrets={"KEY": "S3_SECRET_KEY"}), tmp_path)
    assert "se cret" not in script
    assert shown(script) == "se cret|unset"


def test_a_preparation_runs_once(launcher, tmp_path):
    done, service = tmp_path / "done", None
    step = Prepare(Binary("sh", ("-c", f"echo prepared; touch {done}")), unless=str(done))
    service = Service("s", Binary("echo", ("started",)), prepare=(step,))
    script = launcher.script(service, tmp_path)
    assert shown(script) == "prepared\nstarted\n"
    assert shown(script) == "started\n"


def test_a_failed_preparation_starts_nothing(launcher, tmp_path):
    step = Prepare(Binary("sh", ("-c", "exit 3")), unless=str(tmp_path / "never"))
    script = launcher.script(Service("s", Binary("echo", ("started",)), prepare=(step,)), tmp_path)
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (3, "")


def test_a_jvm_gets_its_heap_its_class_path_and_a_folder_for_temporary_files(launcher, tmp_path):
    script = launcher.script(Service("s", Java("kafka", "a.Main", 99, ("x",), ("-Dy=1",))), tmp_path)
    words = script.split("exec ")[1].replace("\\\n", "").split()
    assert words == [
        *("/jdk/bin/java", "-Xmx99m", "-Dy=1", f"-Djava.io.tmpdir={tmp_path}"),
        *("-cp", "'/cache/components/kafka/lib/*'", "a.Main", "x"),
    ]


def test_a_python_module_is_found_from_the_project(launcher, tmp_path):
    (tmp_path / "hello.py").write_text("print('hello')")
    assert shown(launcher.script(Task("t", Python("hello")), tmp_path)) == "hello\n"
