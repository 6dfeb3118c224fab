# SPDX-License-Identifier: Apache-2.0
"""Python packages of the user in `jobs/spark/packages`: which drivers can import them, and what is refused."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.services.spark.driver import PACKAGES
from infra.user_files import PACKAGE_FOLDER, UserFileError, UserFiles, read_user_files
from lineagelab_spark import launch
from tests.unit.infra.rendered_labs import LOCAL_SITE
from tests.unit.infra.test_services import FakeSite

JOBS = {"mine.py": "# lab: task\n\nprint()\n", "always.py": "# lab: service\n\nprint()\n"}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / PACKAGE_FOLDER
    path.mkdir(parents=True)
    return path


def lab(*packages, site=LOCAL_SITE):
    return build_lab(site, LabSettings(), UserFiles(spark=JOBS, packages=packages))


def test_without_a_folder_there_are_none(tmp_path):
    assert read_user_files(tmp_path).packages == ()
    assert PACKAGES not in lab().service("always").env


def test_packages_are_files_without_bytecode(tmp_path, folder):
    for name in ("pandas/__init__.py", "pandas/__pycache__/__init__.cpython-311.pyc", "numpy.libs/libm.so", "one.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / ".DS_Store").write_text("")
    assert read_user_files(tmp_path).packages == tuple(
        f"{PACKAGE_FOLDER}/{name}" for name in ("numpy.libs/libm.so", "one.py", "pandas/__init__.py")
    )


@pytest.mark.parametrize("name", ["mine-1.0-py3-none-any.whl", "mine-1.0.tar.gz", "mine.zip"])
def test_an_archive_is_refused_with_the_command_that_installs_it(tmp_path, folder, name):
    (folder / name).write_bytes(b"PK")
    with pytest.raises(UserFileError) as raised:
        read_user_files(tmp_path)
    path = f"{PACKAGE_FOLDER}/{name}"
    assert str(raised.value).startswith(f"{path} is an archive of a package")
    assert f"pip install --target {PACKAGE_FOLDER} {path}" in str(raised.value)


@pytest.mark.parametrize("site", [LOCAL_SITE, FakeSite()], ids=["local", "container"])
def test_jobs_of_the_user_can_import_them_and_restart_when_they_change(site):
    found = lab(f"{PACKAGE_FOLDER}/one.py", site=site)
    (task,) = (task for task in found.tasks if task.name == "mine")
    for part in (task, found.service("always")):
        assert part.run.reads == (f"{PACKAGE_FOLDER}/one.py",)
        assert part.env[PACKAGES] == site.project_file(PACKAGE_FOLDER)


def test_jobs_of_the_lab_do_not_depend_on_them():
    found = lab(f"{PACKAGE_FOLDER}/one.py").service("orders_etl")
    assert found.run.reads == ()
    assert PACKAGES not in found.env


def test_the_launcher_knows_the_variable():
    assert launch.PACKAGES == PACKAGES
