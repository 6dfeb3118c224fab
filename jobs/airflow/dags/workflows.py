# SPDX-License-Identifier: Apache-2.0
"""A DAG for each file of `jobs/workflows`, as `lab run` runs it: one task for each step, in order.

Jobs in the lineage have the same names in both: `nightly`, and `nightly.supplier_stats` for a step. The programs of a
step get its run as their parent from the macros of Airflow's OpenLineage provider.
"""

import os
import shlex
import sys
from datetime import timedelta
from pathlib import Path

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, CronTriggerTimetable, chain

from infra.cli.workflow_file import ALL, Step, Workflow, read_workflow, without_missing, workflow_names
from infra.project import PROJECT, stack_root
from infra.targets.local.supervisor_config import program_names
from lineagelab_common.identifiers import PARENT, ROOT_PARENT

STACK = os.environ["LAB_STACK"]

PASSED_ON = ("PATH", "HOME", "LANG", "LINEAGE_LAB_STACK_ROOT")
"""Variables of Airflow that a step's command needs. It gets no others: Airflow's have its credentials."""

ENVIRONMENT = {
    **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    # Of the cache that this interpreter is in: a local lab's services do not get the user's variables.
    "LINEAGE_LAB_CACHE": str(Path(sys.prefix).parents[1]),
    PARENT: "{{ macros.OpenLineageProviderPlugin.lineage_parent_id(task_instance) }}",
    ROOT_PARENT: "{{ macros.OpenLineageProviderPlugin.lineage_root_parent_id(task_instance) }}",
}

RETRY_DELAY = timedelta(seconds=10)


def command(step: Step) -> str:
    """Return the command line of a step."""
    if step.task is not None:
        words = ["run", step.task]
    else:
        words = ["expect", *(() if step.expect == ALL or step.expect is None else step.expect)]
    return shlex.join([str(PROJECT / "bin" / "lab"), *words, "--stack", STACK])


def dag(name: str, workflow: Workflow) -> DAG:
    """Return the DAG of a workflow; its first scheduled run is in the future."""
    made = DAG(
        name,
        schedule=CronTriggerTimetable(workflow.schedule, timezone="UTC", run_immediately=timedelta(0))
        if workflow.schedule
        else None,
        catchup=False,
        max_active_runs=1,  # as `lab run` refuses a second one
        doc_md=f"`jobs/workflows/{name}.yaml`; the same as `bin/lab run {name}`",
    )
    chain(
        *(
            BashOperator(
                task_id=step.name,
                bash_command=command(step),
                env=ENVIRONMENT,
                retries=step.retries,
                retry_delay=RETRY_DELAY,
                dag=made,
            )
            for step in workflow.steps
        )
    )
    return made


for workflow_name in workflow_names():
    complete, _ = without_missing(read_workflow(workflow_name), sorted(program_names(stack_root(STACK))))
    globals()[workflow_name] = dag(workflow_name, complete)
