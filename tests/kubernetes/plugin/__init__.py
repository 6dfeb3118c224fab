# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's Pulumi plugin `kubernetes`, for tests on machines without access to the vendor's registry.

It implements the provider protocol for `kubernetes:helm.sh/v3:Release` with the program `helm`, which it finds on PATH;
other resources, and properties without an effect in the fake, are rejected by name. Only the tests put it on PATH
(`bin/` first), and the engine prints a warning about that on every run.

It imitates the plugin of the SDK in `requirements/kit.in` (4.34), according to the vendor's sources
(github.com/pulumi/pulumi-kubernetes, provider/pkg/provider/helm_release.go and provider.go of 2026):

- The check of the inputs loads the chart but neither renders it nor contacts the cluster. It replaces `version` by the
  chart's. A local chart whose files change without its version is not upgraded (pulumi-kubernetes#2118, #2672).
- An update is a three-way merge of old inputs, new inputs and the state: it resets values that a refresh found changed,
  and keeps values that somebody added. Objects that somebody changed or removed are not read.
- A new name or namespace replaces a release, everything else upgrades it.
- The deletion of a release that does not exist fails (pulumi-kubernetes#2817), unless a refresh noticed it before.
- A release whose installation failed is kept in the state and upgraded next time.
- The cancellation of an update cancels an installation and an upgrade, never the removal of a release.
- A changed cluster replaces a provider that has a `kubeconfig`, and with it all its resources.

Unlike the vendor's plugin, it rejects unknown properties, which the vendor's ignores, supports local charts only, does
not check a chart's dependencies before the update, and cannot import a release.
"""
