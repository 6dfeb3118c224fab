# SPDX-License-Identifier: Apache-2.0
"""Programs that load images into clusters."""

import shutil
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from infra.targets.kubernetes.node_images.nodes import NodeImageError
from infra.toolchain.progress import format_size

_TAIL_LINES = 15
_WIDTH = 80


@dataclass(frozen=True)
class Tool:
    """A program on PATH.

    Attributes:
        name: name of the program.
        attempt: what it is run for, the beginning of error messages.
        remedy: what to do if it is not installed.
    """

    name: str
    attempt: str
    remedy: str

    def output(self, *arguments: str) -> str:
        """Run the program and return its standard output. Raises NodeImageError."""
        command = [self._path(), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise self._failure(done.returncode, (done.stderr or done.stdout).strip().splitlines())
        return done.stdout

    def run(self, arguments: Iterable[str], chunks: Iterable[bytes], on_text: Callable[[str], None]) -> None:
        """Run the program with standard input, and pass on its output and the size of what it has read.

        Raises:
            NodeImageError: the program failed; with the end of its output.
        """
        tail: deque[str] = deque(maxlen=_TAIL_LINES)
        with self._started(arguments) as process:
            reader = threading.Thread(target=_read_lines, args=(process, tail, on_text))
            reader.start()
            try:
                _write(process, chunks, on_text)
            finally:
                reader.join()
        if process.returncode != 0:
            raise self._failure(process.returncode, tail)

    @contextmanager
    def _started(self, arguments: Iterable[str]) -> Iterator["subprocess.Popen[bytes]"]:
        """Start the program; it is terminated if the context is left by an exception."""
        command = [self._path(), *arguments]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                yield process
            except BaseException:
                process.terminate()
                raise

    def _path(self) -> str:
        found = shutil.which(self.name)
        if found is None:
            raise NodeImageError(f"{self.attempt}: the program {self.name} is not installed. {self.remedy}")
        return found

    def _failure(self, status: int, lines: Iterable[str]) -> NodeImageError:
        output = "\n".join(f"  | {line}" for line in lines)
        return NodeImageError(f"{self.attempt}: {self.name} exited with status {status}\n{output}")


def _read_lines(process: "subprocess.Popen[bytes]", tail: deque[str], on_text: Callable[[str], None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text := line.decode(errors="replace").strip():
            tail.append(text)
            on_text(text[:_WIDTH])


def _write(process: "subprocess.Popen[bytes]", chunks: Iterable[bytes], on_text: Callable[[str], None]) -> None:
    """Write chunks to the program's standard input; a program that stops reading reports the reason itself."""
    assert process.stdin is not None
    sent = 0
    try:
        for chunk in chunks:
            process.stdin.write(chunk)
            sent += len(chunk)
            on_text(f"{format_size(sent)} sent")
        process.stdin.close()
    except BrokenPipeError:
        return
