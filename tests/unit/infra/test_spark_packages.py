# SPDX-License-Identifier: Apache-2.0
"""Python packages of the user in `jobs/spark/packages`: which drivers can import them, and what is refused."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.services.spark.packages import PACKAGES
from infra.targets.docker.site import DockerSite
from infra.toolchain import Artifacts
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


@pytest.mark.parametrize("settings", [{"spark_pandas": True}, {"medallion": True}])
def test_pandas_is_for_all_jobs_and_behind_the_packages_of_the_user(settings):
    given = LabSettings(**settings)
    found = build_lab(FakeSite(), given, UserFiles(spark=JOBS, packages=(f"{PACKAGE_FOLDER}/one.py",)))
    assert found.service("orders_etl").env[PACKAGES] == "/venvs/pandas/site-packages"
    own = found.service("always")
    assert own.env[PACKAGES] == f"/opt/project/{PACKAGE_FOLDER}:/venvs/pandas/site-packages"
    assert own.run.packages == ("pandas",)
    assert "pandas" in required_artifacts(given)


def test_pandas_is_optional():
    assert lab().service("orders_etl").run.packages == ()
    assert "pandas" not in required_artifacts(LabSettings())
    assert "pandas" not in required_artifacts(LabSettings(spark_pandas=True, profile="connect"))


def test_executors_have_the_same_packages():
    cluster = build_lab(FakeSite(), LabSettings(spark_pandas=True, spark="cluster"))
    assert cluster.service("spark_worker").run.packages == ("pandas",)
    pods = LabSettings(spark_pandas=True, spark="kubernetes", target="kubernetes")
    (statistics,) = (task for task in build_lab(FakeSite(), pods).tasks if task.name == "supplier_stats")
    assert statistics.executor.run.packages == ("pandas",)


def test_images_have_the_python_of_their_packages():
    site = DockerSite.of_stack("dev", LabSettings(target="docker"), Artifacts.open())
    assert site.python_packages("pandas") == "/opt/lineage-lab/venvs/pandas/lib/python3.11/site-packages"


def test_the_launcher_knows_the_variable():
    assert launch.PACKAGES == PACKAGES
