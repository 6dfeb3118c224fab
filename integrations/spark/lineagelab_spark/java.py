# SPDX-License-Identifier: Apache-2.0
"""Objects behind py4j, which have no Python type."""

from typing import Any

JavaObject = Any
"""Object, class or package of the JVM."""


def kind_of(value: JavaObject) -> str:
    """Return the simple class name of an object; of an anonymous class, that of the class that it extends."""
    java_class = value.getClass()
    return str(java_class.getSimpleName()) or str(java_class.getSuperclass().getSimpleName())


def items(sequence: JavaObject) -> list[JavaObject]:
    """Return the elements of a Scala sequence."""
    return [sequence.apply(place) for place in range(sequence.size())]


def option(value: JavaObject) -> JavaObject | None:
    """Return the value of a Scala option; None if it is empty."""
    return value.get() if value.isDefined() else None
