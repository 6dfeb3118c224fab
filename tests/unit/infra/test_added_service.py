# SPDX-License-Identifier: Apache-2.0
"""Service added by one file in a folder of the user's: the example of `docs/how-to/add-a-service.md`."""

import json
import os
import subprocess
import sys

from infra.project import PROJECT, python_path
from infra.services.discovery import EXTRA_FOLDERS

EXAMPLE = PROJECT / "docs" / "how-to" / "examples" / "backup_store.py"

LABS = """
from tests.unit.infra import rendered_labs
from tests.unit.infra.rendered_labs import docker_lab, docker_resources, docker_target, local_resources
from infra.catalog import ENDPOINTS, LabSettings, build_lab, components
"""


def python(folder, code):
    """Run code in a process whose lab has the services of a folder."""
    environment = os.environ | {EXTRA_FOLDERS: str(folder), "PYTHONPATH": python_path(PROJECT)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )


def evaluate(expression, prelude=LABS):
    """Evaluate an expression in a process whose lab has the example's service."""
    done = python(EXAMPLE.parent, f"import json\n{prelude}\nprint(json.dumps({expression}))")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_example_has_less_than_60_lines():
    assert len(EXAMPLE.read_text().splitlines()) < 60


def test_both_targets_render_the_service_with_its_nested_file():
    process = evaluate("local_resources(LabSettings(backup_store_memory_mib=300))['backup_store'].inputs.properties()")
    assert process["files"] == {"etc/minio.env": "MINIO_UPDATE=off\n"}
    assert process["probe"] == {"host": "127.0.0.1", "port": 9200, "path": "/minio/health/live", "seconds": 120}
    command = evaluate("docker_resources(docker_target())['container/backup_store'].inputs.properties()['command']")
    assert "mkdir -p /var/lib/lineage-lab/files/etc\n" in command[-1]


def test_command_line_has_setting_component_and_address_of_the_service():
    prelude = f"{LABS}\nfrom infra.settings import known_keys\nfrom infra.cli.services import service_addresses"
    assert evaluate("known_keys(LabSettings)['backupStoreMemoryMib']", prelude) == [
        256,
        "memory of the backup store, MiB",
    ]
    assert "minio" in evaluate("sorted(components(LabSettings()))")
    shown = evaluate("service_addresses('backup_store', {'backup_store': 'http://127.0.0.1:9100'})", prelude)
    assert shown == "http://127.0.0.1:9100"


def test_lineage_page_lists_the_service():
    lab = "build_lab(rendered_labs.LOCAL_SITE, LabSettings())"
    services = json.loads(evaluate(f"{lab}.service('lineage').files['lab.json']"))["services"]
    assert next(service for service in services if service["name"] == "backup_store") == {
        "name": "backup_store",
        "title": "Backup store",
        "check": "http://127.0.0.1:9200/minio/health/live",
        "ui": "http://127.0.0.1:9201/",
    }


def test_lineage_page_can_list_the_lineage_service():
    prelude = (
        f"{LABS}\nfrom dataclasses import replace\nfrom infra.services import lineage, overview\n"
        "titled = (replace(lineage.DEFINITION, title='Lineage'),)\noverview.definitions = lambda: titled"
    )
    lab = "build_lab(rendered_labs.LOCAL_SITE, LabSettings())"
    [row] = json.loads(evaluate(f"{lab}.service('lineage').files['lab.json']", prelude))["services"]
    assert row == {"name": "lineage", "title": "Lineage", "check": "http://127.0.0.1:5100/health"}


def test_two_definitions_of_one_name_are_rejected(tmp_path):
    (tmp_path / "second.py").write_text(EXAMPLE.read_text().replace('"backup_store"', '"kafka"'))
    done = python(tmp_path, "import infra.catalog")
    assert done.returncode != 0
    assert "two service definitions have the name kafka" in done.stderr
