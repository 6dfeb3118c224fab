# SPDX-License-Identifier: Apache-2.0
"""Postgres and the resources around it, rendered by the local target, without the rest of the lab."""

import os
import sys
from pathlib import Path

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.model import Database
from infra.project import PROJECT
from infra.services import postgres
from infra.targets.declarations import ResourceDeclaration
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.target import LocalTarget
from infra.toolchain import Artifacts

PROGRAM = """
import json, pathlib
from infra.targets.registration import register_resources
from tests.stack.postgres_lab import declarations

register_resources(declarations(**json.loads(pathlib.Path("wanted.json").read_text())))
"""


def declarations(root: str, offset: int, databases: list[str], jar: str = "") -> tuple[ResourceDeclaration, ...]:
    """Return supervisor, credentials, Postgres and databases (`marquez` among them); with a `jar`, Marquez too."""
    artifacts = Artifacts.open()
    settings = LabSettings(port_offset=offset, marquez=True, marquez_jar=jar or __file__, preflight="warn")
    site = LocalSite(root=Path(root), port_offset=offset, endpoints=ENDPOINTS, programs=artifacts)
    launcher = Launcher(artifacts, PROJECT, Path(root) / "credentials.env", sys.platform, os.geteuid())
    names = sorted({"marquez", *databases})
    whole = build_lab(site, settings)
    known = {database.name for database in whole.resources_of(Database)}
    whole = whole.with_parts(postgres.database(site, name) for name in names if name not in known)
    keys = {"supervisor", "credentials", "postgres", *(f"database/{name}" for name in names)}
    keys |= {"marquez"} if jar else set()
    return tuple(resource for resource in LocalTarget(site, launcher, settings).render(whole) if resource.key in keys)
