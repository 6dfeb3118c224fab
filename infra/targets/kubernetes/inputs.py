# SPDX-License-Identifier: Apache-2.0
"""Inputs of the vendor's Helm release (`pulumi_kubernetes.helm.v3.Release`), as far as the lab sets them."""

from typing import Any

from infra.model.inputs import Inputs


class ReleaseInputs(Inputs):
    """A Helm release.

    Attributes:
        name: name of the release.
        chart: path of the chart on this machine.
        namespace: namespace, which exists.
        values: values of the chart.
        skip_await: True: `labkit:index:Workload` waits for each workload, and reports why one does not start.
    """

    name: str
    chart: str
    namespace: str
    values: dict[str, Any]
    skip_await: bool = True
