# SPDX-License-Identifier: Apache-2.0
"""Certificates and logins of a lab with TLS (`lineage-lab:security: tls`)."""
