# SPDX-License-Identifier: Apache-2.0
"""Parser of argument files: the arguments of a jar's main class, with `${NAME}` replaced. Pure.

    # lab: service
    --bootstrap ${KAFKA_BOOTSTRAP}
    --title "all orders"

Words are separated by blanks and line ends; quotes keep blanks in a word, and `#` begins a comment.
"""

import shlex
from collections.abc import Mapping

from lineagelab_flink.errors import ScriptError
from lineagelab_flink.script import with_values


def program_arguments(file: str, text: str, values: Mapping[str, str]) -> list[str]:
    """Return the arguments in an argument file.

    Args:
        file: its name, for errors.
        text: its content.
        values: of placeholders (`script.PLACEHOLDERS`).

    Raises:
        ScriptError: a quote is not closed, or a placeholder is unknown or has no value.
    """
    found: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise ScriptError(f"{file}, line {number}: {str(error).lower()}: {line.strip()}") from error
        found += [with_values(word, values, file, number) for word in words]
    return found
