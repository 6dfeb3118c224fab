# SPDX-License-Identifier: Apache-2.0
"""Models that are trained on tables of the lake."""
