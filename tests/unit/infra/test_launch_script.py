# SPDX-License-Identifier: Apache-2.0
"""Launch scripts, executed by a shell."""

import dataclasses
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from infra.errors import LabError
from infra.model import Binary, Java, Prepare, Python, Service, Task
from infra.project import PROJECT
from infra.targets.launch_script import NOBODY, Launcher, check_unprivileged, unprivileged_prefix


class Programs:
    def component(self, name):
        return Path("/cache/components") / name

    def python(self, environment):
        return Path(sys.executable)

    def java(self, runtime=17):
        return Path(f"/java-{runtime}/bin/java")

    def binary(self, name):
        return Path("/bin") / name

    def has(self, name):
        return True


@pytest.fixture
def launcher(tmp_path):
    (tmp_path / "credentials.env").write_text("S3_SECRET_KEY='se cret'\nOTHER=kept\n")
    return Launcher(Programs(), tmp_path, tmp_path / "credentials.env")


def run_script(script):
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout


def test_script_quotes_arguments_and_variables(launcher, tmp_path):
    odd = "two words; $HOME 'quoted'"
    run = Binary("sh", ("-c", 'printf "%s|%s|%s" "$1" "$ODD" "$TMPDIR"', "sh", odd))
    task = Task("t", run, env={"ODD": odd})
    assert run_script(launcher.script(task, tmp_path / "s")) == f"{odd}|{odd}|{tmp_path / 's'}"


def test_secret_is_passed_at_run_time_only(launcher, tmp_path):
    run = Binary("sh", ("-c", 'printf "%s|%s" "$KEY" "${OTHER-unset}"'))
    script = launcher.script(Task("t", run, secrets={"KEY": "S3_SECRET_KEY"}), tmp_path)
    assert "se cret" not in script
    assert run_script(script) == "se cret|unset"


def test_preparation_is_skipped_if_its_result_exists(launcher, tmp_path):
    done, service = tmp_path / "done", None
    step = Prepare(Binary("sh", ("-c", f"echo prepared; touch {done}")), unless=str(done))
    service = Service("s", Binary("echo", ("started",)), prepare=(step,))
    script = launcher.script(service, tmp_path)
    assert run_script(script) == "prepared\nstarted\n"
    assert run_script(script) == "started\n"


def test_preparation_without_condition_runs_at_every_start(launcher, tmp_path):
    script = launcher.script(Service("s", Binary("echo", ("started",)), prepare=(Prepare(Binary("pwd")),)), tmp_path)
    assert run_script(script) == run_script(script) == f"{Path.cwd()}\nstarted\n"


def test_staged_result_of_a_preparation_is_published_atomically(launcher, tmp_path):
    staged, made = tmp_path / "made.new", tmp_path / "made"
    staged.mkdir()
    (staged / "half").touch()

    def script(code):
        make = f"mkdir {staged} && touch {staged}/whole && exit {code}"
        step = Prepare(Binary("sh", ("-c", make)), unless=str(made), staged=str(staged))
        return launcher.script(Service("s", Binary("ls", (str(made),)), prepare=(step,)), tmp_path)

    failed = subprocess.run(["sh", "-c", script(4)], capture_output=True, text=True, check=False)
    assert (failed.returncode, made.exists()) == (4, False)
    assert run_script(script(0)) == run_script(script(5)) == "whole\n"
    assert not staged.exists()


def test_preparation_reads_a_secret_from_standard_input(launcher, tmp_path):
    step = Prepare(Binary("cat"), stdin="the key is $KEY, a 'quoted' one")
    service = Service("s", Binary("true"), prepare=(step,), secrets={"KEY": "S3_SECRET_KEY"})
    script = launcher.script(service, tmp_path)
    assert "se cret" not in script
    assert run_script(script) == "the key is se cret, a 'quoted' one\n"


def test_program_of_a_component_is_in_its_bin_folder(launcher, tmp_path):
    script = launcher.script(Service("s", Binary("initdb", component="postgres")), tmp_path)
    assert script.endswith("exec /cache/components/postgres/bin/initdb\n")


def test_unprivileged_program_changes_its_user_only_as_root(launcher, tmp_path):
    service = Service("s", Binary("id", ("-u",), unprivileged=True))
    assert "unshare" not in launcher.script(service, tmp_path)
    root = dataclasses.replace(launcher, user=0, platform="linux")
    assert f"--map-user={NOBODY}" in root.script(service, tmp_path)
    assert unprivileged_prefix("darwin", 501) == ()
    with pytest.raises(LabError, match="no user namespaces"):
        unprivileged_prefix("darwin", 0)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="requires root")
def test_user_namespace_maps_root_to_nobody_and_files_stay_roots(launcher, tmp_path):
    made = tmp_path / "made"
    run = Binary("sh", ("-c", f"id -u; touch {made}"), unprivileged=True)
    script = dataclasses.replace(launcher, user=0).script(Service("s", run), tmp_path)
    assert run_script(script) == f"{NOBODY}\n"
    assert made.stat().st_uid == 0


def test_user_jar_is_the_class_path(launcher, tmp_path):
    def class_path(jar):
        script = launcher.script(Service("s", Java("marquez", "a.Main", 9, jar=jar)), tmp_path)
        return script.split("-cp \\\n  ")[1].split(" ")[0]

    assert class_path("/opt/m.jar") == "/opt/m.jar"
    assert class_path("m.jar") == str(tmp_path / "m.jar")
    assert class_path("~/m.jar") == str(Path.home() / "m.jar")


def test_failed_preparation_prevents_the_start(launcher, tmp_path):
    step = Prepare(Binary("sh", ("-c", "exit 3")), unless=str(tmp_path / "never"))
    script = launcher.script(Service("s", Binary("echo", ("started",)), prepare=(step,)), tmp_path)
    result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (3, "")


def test_java_command_has_heap_class_path_and_temporary_folder(launcher, tmp_path):
    script = launcher.script(Service("s", Java("kafka", "a.Main", 99, ("x",), ("-Dy=1",))), tmp_path)
    words = script.split("exec ")[1].replace("\\\n", "").split()
    assert words == [
        *("/java-17/bin/java", "-Xmx99m", "-Dy=1", f"-Djava.io.tmpdir={tmp_path}"),
        *("-cp", "'/cache/components/kafka/lib/*'", "a.Main", "x"),
    ]


def test_python_module_is_imported_from_the_project(launcher, tmp_path):
    (tmp_path / "hello.py").write_text("print('hello')")
    assert run_script(launcher.script(Task("t", Python("hello")), tmp_path)) == "hello\n"


def test_secret_files_are_written_for_the_user_alone(launcher, tmp_path):
    path = tmp_path / "listener.yml"
    service = Service(name="s", run=Java("c", "Main", 64), secret_files={str(path): '{"apiKey": "$KEY"}'})
    lines = launcher.script(service, tmp_path).splitlines()
    start = next(at for at, line in enumerate(lines) if "umask 077" in line)
    script = "\n".join(lines[start : lines.index(")", start) + 1])
    subprocess.run(["sh", "-c", script], env={"KEY": "k1", "PATH": os.environ["PATH"]}, check=True)
    assert path.read_text() == '{"apiKey": "k1"}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_root_without_user_namespaces_is_told_before_anything_starts():
    """In a namespace of which the kernel allows no further one, as in most containers."""
    program = (
        "import os, sys; from infra.targets.launch_script import check_unprivileged;"
        " check_unprivileged(sys.platform, os.geteuid())"
    )
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" -c "$1"'
    words = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, sys.executable, program]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    if "unshare:" in done.stderr and "LabError" not in done.stderr:
        pytest.skip(f"this machine has no user namespaces: {done.stderr.strip()}")
    assert "Postgres refuses to run as root, and root must not create user namespaces here (unshare: " in done.stderr
    assert "Run the lab as another user" in done.stderr


def test_other_users_need_no_user_namespace(monkeypatch):
    monkeypatch.setenv("PATH", "")
    check_unprivileged(sys.platform, 1000)
    with pytest.raises(LabError, match="No such file or directory: 'unshare'"):
        check_unprivileged("linux", 0)
