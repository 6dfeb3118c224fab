# SPDX-License-Identifier: Apache-2.0
"""Error of a driver's lineage configuration."""


class ConfigurationError(ValueError):
    """Invalid configuration of lineage, found before the first event. The message names what to change."""
