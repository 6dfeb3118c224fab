# SPDX-License-Identifier: Apache-2.0
"""Problems of jobs that services of a lab submit to a cluster: the service runs, its job does not."""

from collections.abc import Callable, Iterable

from infra.targets.checkpoint import Resource


def job_problems(resources: Iterable[Resource], read: Callable[[str], str]) -> dict[str, str]:
    """Return why jobs do not run, by the name of the service that submits them.

    Args:
        resources: of the stack's state.
        read: returns the problem in a launcher's notes at a location, empty for none.
    """
    launched = [inputs for resource in resources if (inputs := resource.get("inputs") or {}).get("launcher")]
    problems = {str(inputs["launcher"]): read(str(inputs.get("notes") or "")) for inputs in launched}
    return {launcher: problem for launcher, problem in problems.items() if problem}
