# SPDX-License-Identifier: Apache-2.0
"""What lives on the other side of py4j has no Python type."""

from typing import Any

JavaObject = Any
"""An object, a class or a package of the JVM."""
