# SPDX-License-Identifier: Apache-2.0
"""One file per service: what it runs, its files, endpoints and readiness. Independent of targets."""
