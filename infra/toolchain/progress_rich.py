# SPDX-License-Identifier: Apache-2.0
"""Live rows on a terminal: one per artifact that is being worked on, with its running time."""

import threading

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Rows
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from infra.toolchain.progress import format_duration, format_size


class RichProgress:
    """Rows vanish when their artifact is there and leave one line behind."""

    def __init__(self, console: Console) -> None:
        self._rows = Rows(
            SpinnerColumn(),
            TextColumn("[bold]{task.fields[name]}"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
        )
        self._guard = threading.Lock()
        self._tasks: dict[str, TaskID] = {}

    def start(self, name: str, what: str) -> None:
        with self._guard:
            self._rows.start()
            self._drop(name)
            self._tasks[name] = self._rows.add_task(escape(what), total=None, name=escape(name))

    def update(self, name: str, text: str) -> None:
        with self._guard:
            self._rows.update(self._tasks[name], description=escape(text))

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        with self._guard:
            self._drop(name)
        self._rows.console.print(
            f"[green]✓[/] [bold]{escape(name)}[/] {format_size(size)} in {format_duration(seconds)}, {escape(source)}",
            highlight=False,
        )

    def note(self, text: str) -> None:
        self._rows.console.print(f"[yellow]![/] {escape(text)}", highlight=False)

    def close(self) -> None:
        with self._guard:
            self._rows.stop()

    def _drop(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            self._rows.remove_task(task)
