# SPDX-License-Identifier: Apache-2.0
"""Library for OpenLineage emitters: an event writer, and a spool that delivers events.

Only the standard library is imported, because launchers stay resident beside each job.
"""
