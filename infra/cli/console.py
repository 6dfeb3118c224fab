# SPDX-License-Identifier: Apache-2.0
"""What the command prints on, and how a user error ends it."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, ParamSpec, TypeVar

import typer
from rich.console import Console

from infra.errors import Interrupted, LabError
from infra.toolchain.progress import PlainProgress, Progress
from infra.toolchain.progress_rich import RichProgress

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

StackOption = Annotated[
    str, typer.Option("--stack", "-s", envvar="LINEAGE_LAB_STACK", help="Which lab, by its stack's name.")
]
DEFAULT_STACK = "dev"

P = ParamSpec("P")
R = TypeVar("R")


def progress() -> Progress:
    """What shows long work on this output: lines that move on a terminal, lines that stay elsewhere."""
    return RichProgress(out) if out.is_terminal else PlainProgress(sys.stdout)


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Shows a `LabError` as its text alone, and ends with 1; Ctrl-C ends with 130."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (KeyboardInterrupt, Interrupted) as stopped:
            err.print("stopped", style="yellow")
            raise typer.Exit(130) from stopped
        except LabError as error:
            err.print("error:", style="bold red", end=" ")
            err.print(str(error), markup=False)
            raise typer.Exit(1) from error

    return run
