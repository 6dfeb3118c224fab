# SPDX-License-Identifier: Apache-2.0
"""Migrations of the log on Postgres, run by Alembic when an instance starts."""
