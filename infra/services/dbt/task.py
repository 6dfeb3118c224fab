# SPDX-License-Identifier: Apache-2.0
"""Task that builds the dbt project `jobs/dbt` on the lake, with DuckDB."""

from infra.model import Part, Python, Site, Task
from infra.namespaces import JOB_DBT_BUILD
from infra.project import PROJECT
from infra.services import lake_client
from infra.services.dbt.settings import included
from infra.services.definition import Draft

FOLDER = "jobs/dbt"
MEMORY_MIB = 400

_OUTPUTS = frozenset({"logs", "target", ".user.yml"})
"""Files and folders that dbt writes when a user runs it in the folder of the project."""


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the task, if the lab has it."""
    return (_task(draft.site),) if included(draft.settings) else ()


def project_files() -> tuple[str, ...]:
    """Return the files of the dbt project, relative to the checkout."""
    folder = PROJECT / FOLDER
    files = (path for path in folder.rglob("*") if path.is_file())
    made = (path for path in files if path.relative_to(folder).parts[0] not in _OUTPUTS)
    return tuple(sorted(path.relative_to(PROJECT).as_posix() for path in made))


def _task(site: Site) -> Task:
    scratch = site.scratch(JOB_DBT_BUILD)
    folder = site.project_file(FOLDER)
    return Task(
        name=JOB_DBT_BUILD,
        run=Python("lineagelab_dbt", ("build",), reads=project_files(), environment="dbt"),
        needs=lake_client.NEEDS,
        env={
            **lake_client.environment(site),
            "DBT_PROJECT_DIR": folder,
            "DBT_PROFILES_DIR": folder,
            "DBT_TARGET_PATH": f"{scratch}/target",
            "DBT_LOG_PATH": f"{scratch}/logs",
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_USE_COLORS": "false",
            "DBT_JOB_NAME": JOB_DBT_BUILD,
            "LINEAGE_SPOOL": f"{scratch}/unsent-events.json",
            "LINEAGE_OPEN_RUNS": f"{scratch}/open_runs.json",
        },
        secrets=lake_client.CLIENT_SECRETS,
        memory_mib=MEMORY_MIB,
    )
