# SPDX-License-Identifier: Apache-2.0
"""Progress as live rows on a terminal: one per artefact in progress, with its elapsed time."""

import threading

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Rows
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from infra.toolchain.progress import format_duration, format_size


class RichProgress:
    """Progress with one live row per artefact, replaced by one line when it is installed."""

    def __init__(self, console: Console) -> None:
        self._rows = Rows(
            SpinnerColumn(),
            TextColumn("[bold]{task.fields[name]}"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
        )
        self._lock = threading.Lock()
        self._tasks: dict[str, TaskID] = {}

    def start(self, name: str, activity: str) -> None:
        with self._lock:
            self._rows.start()
            self._remove_row(name)
            self._tasks[name] = self._rows.add_task(escape(activity), total=None, name=escape(name))

    def update(self, name: str, text: str) -> None:
        with self._lock:
            self._rows.update(self._tasks[name], description=escape(text))

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        with self._lock:
            self._remove_row(name)
        self._rows.console.print(
            f"[green]✓[/] [bold]{escape(name)}[/] {format_size(size)} in {format_duration(seconds)}, {escape(source)}",
            highlight=False,
        )

    def note(self, text: str) -> None:
        self._rows.console.print(f"[yellow]![/] {escape(text)}", highlight=False)

    def close(self) -> None:
        with self._lock:
            self._rows.stop()

    def _remove_row(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            self._rows.remove_task(task)
