# SPDX-License-Identifier: Apache-2.0
"""Type alias for objects behind py4j, which have no Python type."""

from typing import Any

JavaObject = Any
"""Object, class or package of the JVM."""
