# SPDX-License-Identifier: Apache-2.0
"""Terminal output of the `lab` command, and the exit codes of failed commands."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, ParamSpec, TypeVar

import typer
from rich.console import Console

from infra.errors import Interrupted, LabError
from infra.toolchain.progress import PlainProgress, Progress
from infra.toolchain.progress_rich import RichProgress

# No emoji codes: `tag:secret:` of a name would become a picture.
out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

StackOption = Annotated[
    str, typer.Option("--stack", "-s", envvar="LINEAGE_LAB_STACK", help="Name of the lab's Pulumi stack.")
]
DEFAULT_STACK = "dev"

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""

P = ParamSpec("P")
R = TypeVar("R")


def progress_display() -> Progress:
    """Return live progress rows on a terminal, plain lines elsewhere."""
    return RichProgress(out) if out.is_terminal else PlainProgress(sys.stdout)


def command_failing_with(exit_code: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for commands: a LabError is printed as one message and exits with `exit_code`.

    Ctrl-C exits with 130.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except (KeyboardInterrupt, Interrupted) as interrupt:
                err.print("interrupted", style="yellow")
                raise typer.Exit(EXIT_INTERRUPTED) from interrupt
            except LabError as error:
                err.print("error:", style="bold red", end=" ")
                err.print(str(error), markup=False)
                raise typer.Exit(exit_code) from error

        return run

    return decorate


command = command_failing_with(1)
