# SPDX-License-Identifier: Apache-2.0
"""Reader of notes in files of pods (`infra.provider.notes`)."""

SCHEME = "pod"

_NO_FILE = 66
"""Exit status of the command if there is no such file."""

_READ = f'[ -e "$1" ] || exit {_NO_FILE}; exec cat "$1"'


def pod_location(context: str, namespace: str, service: str, path: str) -> str:
    """Return the location of a file in a service's pod, as `infra.provider.notes.read_notes` takes it."""
    return f"{SCHEME}:{context}:{namespace}:{service}:{path}"


def read_pod_file(location: str) -> str:
    """Return the text of a file in a pod; `location` is `CONTEXT:NAMESPACE:SERVICE:PATH`.

    Raises:
        FileNotFoundError: the service has no running pod, or the pod has no such file.
        LabError: the cluster cannot be reached.
    """
    # The Kubernetes client is slow to import, and only stacks on Kubernetes require it.
    import io

    from infra.targets.kubernetes.client import shared_cluster
    from infra.targets.kubernetes.objects import PODS
    from infra.targets.kubernetes.pod_exec import CommandError, execute
    from infra.targets.labels import PART_LABEL, ROLE_LABEL, SERVICE_ROLE

    context, namespace, service, path = location.rsplit(":", 3)  # names of contexts contain colons
    cluster, output = shared_cluster(context), io.BytesIO()
    labels = {PART_LABEL: service, ROLE_LABEL: SERVICE_ROLE}
    running = [pod for pod in cluster.list(PODS, namespace, labels) if pod["status"].get("phase") == "Running"]
    if not running:
        raise FileNotFoundError(f"{service} has no running pod in namespace {namespace}, and so no file {path}")
    try:
        execute(cluster, running[0], ["/bin/sh", "-c", _READ, "sh", path], destination=output)
    except CommandError as error:
        if error.status == _NO_FILE:
            raise FileNotFoundError(f"pod {running[0]['metadata']['name']} has no file {path}") from error
        raise
    return output.getvalue().decode()
