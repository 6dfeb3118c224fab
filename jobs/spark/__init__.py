# SPDX-License-Identifier: Apache-2.0
"""PySpark jobs of the lab, and the modules that they share."""
