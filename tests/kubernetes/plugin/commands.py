# SPDX-License-Identifier: Apache-2.0
"""Commands of Helm that deploy and remove a release."""

from collections.abc import Mapping

from tests.kubernetes.plugin.release import TIMEOUT
from tests.vendor_plugin.properties import Properties

INSTALL_FLAGS = {
    "--atomic": "atomic",
    "--create-namespace": "createNamespace",
    "--dependency-update": "dependencyUpdate",
    "--disable-openapi-validation": "disableOpenapiValidation",
    "--no-hooks": "disableWebhooks",
    "--render-subchart-notes": "renderSubchartNotes",
    "--replace": "replace",
    "--skip-crds": "skipCrds",
    "--take-ownership": "takeOwnership",
}
UPGRADE_FLAGS = {
    "--atomic": "atomic",
    "--cleanup-on-fail": "cleanupOnFail",
    "--dependency-update": "dependencyUpdate",
    "--force": "forceUpdate",
    "--no-hooks": "disableCRDHooks",
    "--recreate-pods": "recreatePods",
    "--render-subchart-notes": "renderSubchartNotes",
    "--reset-values": "resetValues",
    "--reuse-values": "reuseValues",
    "--take-ownership": "takeOwnership",
}
"""Options of Helm and the inputs that set them. In the vendor's plugin, hooks have a different input per command."""


def install_arguments(release: Properties) -> list[str]:
    """Return the command that installs a release; its values are read from standard input."""
    return [*_command("install", release, INSTALL_FLAGS), *_awaiting(release), *_description(release)]


def upgrade_arguments(release: Properties, namespace: str) -> list[str]:
    """Return the command that upgrades a release in the namespace where it is."""
    history = ["--history-max", str(release.get("maxHistory", 0))]
    command = _command("upgrade", {**release, "namespace": namespace}, UPGRADE_FLAGS)
    return [*command, *_awaiting(release), *history, *_description(release)]


def uninstall_arguments(release: Properties) -> list[str]:
    """Return the command that removes a release; it waits for the removal of objects unless `skipAwait` is set."""
    waiting = ["--wait"] if release.get("atomic") or not release.get("skipAwait") else []
    return ["uninstall", release["name"], "--namespace", release["namespace"], *waiting, *_timeout(release)]


def _command(verb: str, release: Properties, flags: Mapping[str, str]) -> list[str]:
    chosen = [flag for flag, name in flags.items() if release.get(name)]
    where = ["--namespace", release["namespace"], "--values", "-"]
    return [verb, release["name"], release["chart"], *where, *chosen, *_timeout(release)]


def _awaiting(release: Properties) -> list[str]:
    if release.get("skipAwait"):
        return []
    return ["--wait", "--wait-for-jobs"] if release.get("waitForJobs") else ["--wait"]


def _timeout(release: Properties) -> list[str]:
    return ["--timeout", f"{release.get('timeout') or TIMEOUT}s"]


def _description(release: Properties) -> list[str]:
    return ["--description", release["description"]] if release.get("description") else []
