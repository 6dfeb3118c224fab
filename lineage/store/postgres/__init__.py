# SPDX-License-Identifier: Apache-2.0
"""The event log in Postgres: one writing instance, which holds a lease, and any number of reading ones.

Requires the extra `postgres` of the package.
"""
