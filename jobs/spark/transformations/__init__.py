# SPDX-License-Identifier: Apache-2.0
"""Pure functions from DataFrame to DataFrame: what the jobs compute, without where from and where to."""
