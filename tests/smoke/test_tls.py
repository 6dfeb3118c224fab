# SPDX-License-Identifier: Apache-2.0
"""A lab with TLS as processes of this machine."""

import pytest

from tests.smoke.lab_under_test import LabUnderTest
from tests.smoke.tls_tests import UP_SECONDS, TlsTests, kafka_refusal, kafka_settings
from tests.stack.polling import until
from tests.stack_files import SMOKE_TLS

pytestmark = [pytest.mark.smoke, pytest.mark.slow]


@pytest.fixture(scope="module")
def lab():
    tested = LabUnderTest(SMOKE_TLS)
    with tested.configured():
        started = tested.lab("up", seconds=UP_SECONDS)
        assert started.status == 0, started.text
        yield tested


class TestTls(TlsTests):
    def test_the_controller_refuses_clients_without_a_login(self, lab):
        host, _, port = lab.environment["LAB_KAFKA"].rpartition(":")
        controller = f"{host}:{int(port) + 1}"
        settings = kafka_settings(lab, bootstrap_servers=controller, security_protocol="PLAINTEXT")
        before = lab.log("kafka").count("SSL handshake failed")
        kafka_refusal(settings)
        until(lambda: lab.log("kafka").count("SSL handshake failed") > before)

    def test_the_history_is_read_from_the_lake(self, lab):
        ended = lab.lab("run", "lineage_history")
        assert ended.status == 0, ended.text

    def test_down_leaves_nothing(self, lab):
        assert lab.lab("down").status == 0
        assert not lab.root.exists()
