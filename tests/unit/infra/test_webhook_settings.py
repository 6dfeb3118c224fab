# SPDX-License-Identifier: Apache-2.0
"""The setting `lineageWebhooks`: the content of the file is a credential of the lineage service, on every target."""

import json

import pytest

from infra import credentials
from infra.catalog import LabSettings, build_lab, check_settings
from infra.errors import LabError
from infra.provider.inputs import CredentialsInputs
from infra.provider.kind import OperationContext
from infra.provider.kinds.credentials import CredentialsKind
from infra.services import lineage
from infra.user_files import UserFiles
from tests.unit.infra.rendered_labs import LOCAL_SITE, docker_lab, docker_resources, docker_target, local_resources
from tests.unit.infra.rendered_values import rendered

NAME = credentials.LINEAGE_WEBHOOKS
WEBHOOK = {"name": "ops", "url": "https://example.org/secret-path", "shape": "json", "secret": "it's sixteen $bytes"}


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "webhooks.json", WEBHOOK)


def write(path, *webhooks):
    path.write_text(json.dumps(webhooks, indent=2))
    return path


def settings(file, **further):
    return LabSettings(lineage_webhooks=str(file), **further)


def service_of(parts):
    (found,) = [part for part in parts if part.name == lineage.NAME]
    return found


def test_only_the_lineage_service_gets_them_and_no_declaration_has_their_content(file):
    lab = build_lab(LOCAL_SITE, settings(file), UserFiles())
    assert [service.name for service in lab.services if NAME in service.secrets] == [lineage.NAME]
    resources = local_resources(settings(file))
    assert resources["credentials"].inputs.files == {NAME: str(file)}
    text = json.dumps([resource.inputs.properties() for resource in resources.values()])
    assert "secret-path" not in text
    assert "sixteen" not in text


def test_the_same_on_docker(file):
    target = docker_target(settings=settings(file, target="docker"))
    assert NAME in service_of(docker_lab(target).services).secrets
    made = {resource.key: resource for resource in target.render(docker_lab(target))}
    assert made["credentials"].inputs.files == {NAME: str(file)}


def test_without_the_setting_there_are_none():
    lab = build_lab(LOCAL_SITE, LabSettings(), UserFiles())
    assert NAME not in service_of(lab.services).secrets
    assert local_resources(LabSettings())["credentials"].inputs.files is None


def test_a_changed_file_changes_the_credentials_and_the_lineage_service_alone(file):
    before = local_resources(settings(file))
    write(file, WEBHOOK, {**WEBHOOK, "name": "second"})
    after = local_resources(settings(file))
    changed = {key for key, resource in after.items() if resource.inputs != before[key].inputs}
    assert changed == {"credentials", lineage.NAME}


def test_on_docker_a_changed_file_is_copied_again(file):
    before = docker_resources(docker_target(settings=settings(file, target="docker")))
    write(file)
    after = docker_resources(docker_target(settings=settings(file, target="docker")))
    changed = {key for key, resource in after.items() if resource.inputs != before[key].inputs}
    assert changed == {"credentials", "credentials/volume", f"container/{lineage.NAME}"}


def test_on_kubernetes_a_changed_file_restarts_the_lineage_service_alone(file):
    _, before = rendered(lineage_webhooks=str(file))
    write(file)
    _, after = rendered(lineage_webhooks=str(file))
    assert {name for name in after if after[name] != before[name]} == {lineage.NAME}
    assert after["credentials"]["given"] == [NAME]
    assert NAME not in after["credentials"]["names"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("target", ["docker", "kubernetes"])
def test_a_webhook_that_containers_cannot_reach_is_refused(tmp_path, target, host):
    file = write(tmp_path / "webhooks.json", {**WEBHOOK, "url": f"http://{host}:8080/hook"})
    with pytest.raises(LabError, match=rf"the URL of 'ops' is .*with target {target} that is the container itself"):
        check_settings(settings(file, target=target))
    check_settings(settings(file))


def test_a_file_that_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(LabError, match=r"lineageWebhooks: cannot read the webhooks in .*no-file"):
        check_settings(settings(tmp_path / "no-file"))
    invalid = settings(write(tmp_path / "webhooks.json", {"name": "x", "url": "http://example.org"}))
    for use in (check_settings, local_resources):
        with pytest.raises(LabError, match=r"lineageWebhooks: webhook 1 in .*'shape' is missing"):
            use(invalid)


class TestFile:
    """The credentials file of the stack."""

    KIND = CredentialsKind()

    @pytest.fixture
    def inputs(self, tmp_path, file):
        return CredentialsInputs(path=str(tmp_path / "credentials.env"), files={NAME: str(file)})

    def test_the_content_is_one_line_that_a_shell_reads(self, inputs, tmp_path, file):
        self.KIND.create(inputs, OperationContext())
        values = credentials.read(tmp_path / "credentials.env")
        assert json.loads(values[NAME]) == [WEBHOOK]
        assert values.keys() == {*credentials.NAMES, NAME}

    def test_a_change_is_written(self, inputs, tmp_path, file):
        made = self.KIND.create(inputs, OperationContext())
        assert self.KIND.read(inputs, OperationContext()).outputs == made
        write(file)
        assert self.KIND.update(inputs, inputs, OperationContext()) == made, "other services restart for nothing"
        assert credentials.read(tmp_path / "credentials.env")[NAME] == "[]"

    def test_without_the_setting_they_are_removed(self, inputs, tmp_path):
        self.KIND.create(inputs, OperationContext())
        self.KIND.update(inputs, inputs.model_copy(update={"files": None}), OperationContext())
        assert NAME not in credentials.read(tmp_path / "credentials.env")

    def test_a_lost_credential_is_found(self, inputs, tmp_path):
        self.KIND.create(inputs, OperationContext())
        credentials.remove(tmp_path / "credentials.env", [NAME])
        assert self.KIND.read(inputs, OperationContext()) is None

    def test_a_file_that_is_gone_is_named_by_an_update_and_no_matter_before(self, inputs, file):
        made = self.KIND.create(inputs, OperationContext())
        file.unlink()
        assert self.KIND.read(inputs, OperationContext()).outputs == made
        with pytest.raises(LabError, match=r"cannot read the credentials in .*webhooks\.json"):
            self.KIND.create(inputs, OperationContext())
