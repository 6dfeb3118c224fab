# SPDX-License-Identifier: Apache-2.0
"""Rendering of the local target; `test_snapshots.py` compares all of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.errors import LabError
from infra.model import Java, PublicImage, Service
from infra.project import PROJECT
from infra.services import kafka
from infra.targets.declarations import environment_file, outputs
from infra.targets.launch_script import Launcher
from infra.targets.local import lab_id
from infra.targets.local.site import LocalSite
from infra.targets.local.target import LocalTarget
from infra.targets.revision import revision, source_revision, with_imports
from tests.unit.infra.rendered_labs import LOCAL_SITE, OFFSET, Programs, local_resources


@pytest.fixture(scope="module")
def site():
    return LOCAL_SITE


@pytest.fixture(scope="module")
def rendered():
    return local_resources(LabSettings(port_offset=OFFSET))


@pytest.fixture(scope="module")
def rendered_with_marquez():
    return local_resources(LabSettings(port_offset=OFFSET, marquez=True))


@pytest.fixture(scope="module")
def rendered_with_cluster():
    return local_resources(LabSettings(port_offset=OFFSET, spark="cluster", spark_history=True))


SPARK_CLUSTER = {"spark_master", "spark_worker", "spark_history", "bucket/spark-events", "orders_etl", "supplier_stats"}


def test_with_marquez_nothing_else_is_added_or_changed(rendered, rendered_with_marquez):
    changed = {key for key, resource in rendered_with_marquez.items() if rendered.get(key) != resource}
    assert changed == {"supervisor", "database/marquez", "marquez", "lineage", "lab.env"}
    assert rendered.keys() < rendered_with_marquez.keys()


def test_what_is_a_public_image_cannot_be_a_process(site):
    launcher = Launcher(Programs(), PROJECT, Path("/project/.lab/dev/credentials.env"))
    whole = build_lab(site, LabSettings())
    page = Service("page", PublicImage("some/page:1", "/run", remedy="set lineage-lab:page to false"))
    with pytest.raises(
        LabError, match="page is the public image some/page:1, which the local target cannot run"
    ) as raised:
        LocalTarget(site, launcher, LabSettings()).render(replace(whole, services=(*whole.services, page)))
    assert "or set lineage-lab:page to false" in str(raised.value)


def test_every_need_is_something_that_is_made(rendered, rendered_with_marquez):
    for made in (rendered, rendered_with_marquez):
        assert {need for resource in made.values() for need in resource.needs} <= made.keys()


def test_with_a_cluster_nothing_that_is_no_sparks_is_changed(rendered, rendered_with_cluster):
    changed = {key for key, resource in rendered_with_cluster.items() if rendered.get(key) != resource}
    # The lineage service's page shows what services there are.
    changed_too = {"supplier_stats_live", "lake_maintenance", "maintenance", "supervisor", "lab.env", "lineage"}
    assert changed == {*SPARK_CLUSTER, *changed_too}
    assert rendered.keys() < rendered_with_cluster.keys()


def test_the_port_offset_moves_every_port(site, rendered_with_marquez):
    ports = rendered_with_marquez["supervisor"].inputs.ports
    assert ports["kafka broker"] == 9192
    assert len(set(ports.values())) == len(ports)
    assert outputs(build_lab(site, LabSettings()), site)["lineage"] == "http://127.0.0.1:5100"


def variables(site):
    return environment_file(build_lab(site, LabSettings()), site, LabSettings(), "/stack/lab.env").inputs


def test_lab_env_has_every_endpoint(site):
    endpoints = outputs(build_lab(site, LabSettings()), site)
    values = variables(site).values
    assert values["LAB_KAFKA"] == "127.0.0.1:9192"
    assert {f"LAB_{name.upper()}" for name in endpoints} <= values.keys()


def test_lab_env_points_postgres_clients_at_the_labs_own(site):
    values = variables(site).values
    assert (values["PGHOST"], values["PGPORT"], values["PGUSER"]) == ("127.0.0.1", "5532", "postgres")
    assert variables(site).secrets["PGPASSWORD"] == "POSTGRES_PASSWORD"


def test_a_changed_jar_of_the_users_restarts_what_runs_it(tmp_path):
    jar = tmp_path / "marquez.jar"
    jar.write_bytes(b"one")
    run = Java("marquez", "a.Main", 1, jar=str(jar))
    first = revision(PROJECT, run)
    jar.write_bytes(b"two")
    assert len({first, revision(PROJECT, run), revision(PROJECT, Java("kafka", "a.Main", 1))}) == 3


def test_a_changed_source_changes_the_revision(tmp_path):
    package = tmp_path / "a" / "b"
    package.mkdir(parents=True)
    (package / "x.py").write_text("1")
    first = source_revision(tmp_path, ["a.b"])
    (package / "x.py").write_text("2")
    assert source_revision(tmp_path, ["a.b"]) != first
    schema = package / "x.avsc"
    schema.write_text("{}")
    assert source_revision(tmp_path, ["a.b"]) != first


def test_a_changed_source_that_another_one_imports_changes_its_revision(tmp_path):
    (tmp_path / "jobs" / "deep").mkdir(parents=True)
    for name in ("jobs/__init__", "jobs/deep/__init__", "jobs/deep/far", "jobs/deep/other", "jobs/stranger"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "jobs" / "near.py").write_text("from jobs.deep import far")
    (tmp_path / "jobs" / "job.py").write_text("import os\nimport jobs.near\n")

    def changed_by(name):
        before = source_revision(tmp_path, ["jobs.job"])
        path = tmp_path / "jobs" / name
        path.write_text(path.read_text() + "\n")
        return source_revision(tmp_path, ["jobs.job"]) != before

    assert all(changed_by(name) for name in ("job.py", "near.py", "deep/far.py", "deep/__init__.py"))
    assert not any(changed_by(name) for name in ("stranger.py", "deep/other.py"))


@pytest.mark.parametrize(
    "text",
    [
        "import a.b",
        "import os, a.b as c  # both",
        "from a import b",
        "from a import c, b as d",
        "from a import (\n    c,\n    b,\n)",
        "from a import (  # why (not)\n    c,  # one (two)\n    b,\n)",
        "from a import c, \\\n    b",
        "import os; import a.b",
        "if True: import a.b",
        "def run():\n\tfrom a import b",
        "try:\n    from a.b import x\nexcept ImportError:\n    x = None",
        "import os\r\nimport a.b\r\n",
        '"""What to import."""\nfrom a import b',
    ],
)
def test_an_import_counts_in_every_form(tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("1")
    (tmp_path / "job.py").write_text(f"import sys\n{text}\n", newline="")
    first = source_revision(tmp_path, ["job"])
    (tmp_path / "a" / "b.py").write_text("2")
    assert source_revision(tmp_path, ["job"]) != first


@pytest.mark.parametrize("text", ["# import a.b", '"import a.b"', "x = a.b", "important = 1"])
def test_what_is_no_import_does_not_count(tmp_path, text):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("1")
    (tmp_path / "job.py").write_text(text)
    first = source_revision(tmp_path, ["job"])
    (tmp_path / "a" / "b.py").write_text("2")
    assert source_revision(tmp_path, ["job"]) == first


def test_a_source_that_is_no_python_has_a_revision_too(tmp_path):
    (tmp_path / "job.py").write_text("def (")
    assert source_revision(tmp_path, ["job"])


def test_of_an_own_job_only_its_own_sources_count():
    """A file that is dropped into the folder restarts no other driver."""
    etl = ["lineagelab_spark.launch", "jobs.spark.orders_etl"]
    files = {path.name for path in with_imports(PROJECT, etl)}
    assert {"launch_process.py", "orders_etl.py", "namespaces.py"} <= files
    assert not {"supplier_stats.py", "class_data_training.py", "settings.py"} & files


def test_a_checkout_in_an_odd_place_is_refused_with_the_reason():
    with pytest.raises(LabError, match=r"'/my labs/50%/\.lab/dev'.*a space, '%'"):
        LocalSite(root=Path("/my labs/50%/.lab/dev"), port_offset=0, endpoints=ENDPOINTS, programs=Programs())


def identities(root):
    site = LocalSite(root=root, port_offset=0, endpoints=ENDPOINTS, programs=Programs(), own_id=lab_id.read(root))
    return kafka.cluster_id(site), site.identity


def test_a_lab_keeps_its_ids_when_its_checkout_is_moved(tmp_path):
    root = tmp_path / "before" / "dev"
    lab_id.create(root)
    before = identities(root)
    (root / "services").mkdir()
    lab_id.create(root)
    moved = (tmp_path / "before").rename(tmp_path / "after") / "dev"
    assert identities(moved) == before
    other = tmp_path / "other" / "dev"
    lab_id.create(other)
    assert identities(other) != before


def test_a_lab_that_was_made_without_an_id_keeps_that_of_its_path(tmp_path):
    (tmp_path / "dev" / "services").mkdir(parents=True)
    before = identities(tmp_path / "dev")
    lab_id.create(tmp_path / "dev")
    assert identities(tmp_path / "dev") == before
