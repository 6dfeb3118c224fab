# SPDX-License-Identifier: Apache-2.0
"""A service that one file in a folder of the user's adds, with nothing else edited."""

import json
import os
import subprocess
import sys

import pytest

from infra.project import PROJECT, python_path
from infra.services.discovery import EXTRA_FOLDERS

SERVICE = '''
from pydantic import Field

from infra.model import Binary, Endpoint, Probe, Service
from infra.services.definition import ServiceDefinition, WebPage
from infra.settings import SettingsSection

NAME = "backup_store"
API = Endpoint("api", 9100, scheme="http", published_as="backup_store")
CONFIG = "etc/catalog/backup.properties"


class BackupSettings(SettingsSection):
    """Settings of the backup store."""

    backup_memory_mib: int = Field(200, ge=64, description="memory of the backup store, MiB")


def build(site, settings):
    """A second object store."""
    listen = site.listen(NAME, API.name)
    return Service(
        name=NAME,
        run=Binary("minio", ("server", site.volume(NAME, "data"), "--address", str(listen))),
        endpoints=(API,),
        ready=Probe(API.name, "/minio/health/live"),
        files={CONFIG: f"listen={listen}\\n"},
        volumes=("data",),
        memory_mib=settings.section(BackupSettings).backup_memory_mib,
    )


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Backup store",
    build=build,
    endpoints=(API,),
    components=("minio",),
    settings=BackupSettings,
    web_page=WebPage(API),
)
'''


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return a function that evaluates an expression in a process of a lab with the added service."""
    folder = tmp_path_factory.mktemp("services")
    (folder / "backup_store.py").write_text(SERVICE)
    environment = os.environ | {EXTRA_FOLDERS: str(folder), "PYTHONPATH": python_path(PROJECT)}

    def run(expression, prelude=""):
        code = f"import json\n{prelude}\nprint(json.dumps({expression}))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


LABS = """
from tests.unit.infra.rendered_labs import docker_lab, docker_resources, docker_target, local_resources
from infra.catalog import ENDPOINTS, LabSettings, components
"""


def test_the_file_is_short():
    assert len(SERVICE.splitlines()) < 60


def test_both_targets_render_it_with_its_nested_file(ask):
    process = ask("local_resources(LabSettings(backup_memory_mib=300))['backup_store'].inputs.properties()", LABS)
    assert process["files"] == {"etc/catalog/backup.properties": "listen=127.0.0.1:9200\n"}
    assert process["probe"] == {"host": "127.0.0.1", "port": 9200, "path": "/minio/health/live", "seconds": 120}
    command = ask("docker_resources(docker_target())['container/backup_store'].inputs.properties()['command']", LABS)
    assert "mkdir -p /var/lib/lineage-lab/files/etc/catalog\n" in command[-1]


def test_the_command_line_has_its_setting_its_components_and_its_address(ask):
    prelude = f"{LABS}\nfrom infra.settings import known_keys\nfrom infra.cli.services import service_addresses"
    assert ask("known_keys(LabSettings)['backupMemoryMib']", prelude) == [200, "memory of the backup store, MiB"]
    assert "minio" in ask("sorted(components(LabSettings()))", prelude)
    shown = ask("service_addresses('backup_store', {'backup_store': 'http://127.0.0.1:9100'})", prelude)
    assert shown == "http://127.0.0.1:9100"


def test_the_lineage_page_lists_it(ask):
    prelude = f"{LABS}\nfrom infra.services.overview import overview\nfrom tests.unit.infra import rendered_labs"
    services = ask("overview(rendered_labs.LOCAL_SITE, LabSettings(), 'contract')['services']", prelude)
    assert next(service for service in services if service["name"] == "backup_store") == {
        "name": "backup_store",
        "title": "Backup store",
        "check": "http://127.0.0.1:9200/minio/health/live",
        "ui": "http://127.0.0.1:9200/",
    }


def test_two_definitions_of_one_name_are_refused(tmp_path):
    (tmp_path / "second.py").write_text(SERVICE.replace('"backup_store"', '"kafka"'))
    environment = os.environ | {EXTRA_FOLDERS: str(tmp_path), "PYTHONPATH": python_path(PROJECT)}
    command = [sys.executable, "-c", "import infra.catalog"]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "two service definitions have the name kafka" in done.stderr
