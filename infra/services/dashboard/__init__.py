# SPDX-License-Identifier: Apache-2.0
"""Dashboard of the lab."""
