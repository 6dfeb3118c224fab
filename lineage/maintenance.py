# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage.maintenance`: backup, restore, check and move of a log.

    backup --data DIRECTORY FILE     copy the log, also while the service runs
    restore --data DIRECTORY FILE    replace the log by a copy; the service must be stopped
    check --data DIRECTORY           read every event and every snapshot; the service may run
    check --store URL                the same for a log in Postgres, which pg_dump backs up
    move --data DIRECTORY --store URL
                                     copy the log into an empty Postgres database; the service must be stopped

Exit codes: 0 done, 1 `check` found damage, 2 failed, with a one-line error.
"""

import argparse
import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from lineage.graph import LineageRecords
from lineage.graph.snapshot import restore as restore_snapshots
from lineage.store.database import FILE_NAME, lock_directory
from lineage.store.errors import StoreError, StoreUnusable
from lineage.store.graph_as_of import FileRows, LogRows
from lineage.store.horizons import END_OF_TIME
from lineage.store.postgres.address import PASSWORD, PostgresAddress, check_url
from lineage.store.postgres.sql import SCHEMA
from lineage.store.rows import stored_events
from lineage.store.schema import SCHEMA_VERSION
from lineage.store.state_file import delete_states


class MaintenanceError(Exception):
    """A command failed; the message names what was attempted, on what, and the remedy."""


def backup(directory: Path, target: Path) -> str:
    """Copy the log of a data directory to a new file; return a one-line summary.

    Raises:
        MaintenanceError: there is no log, the target exists, or it cannot be written.
    """
    source = directory / FILE_NAME
    if target.exists():
        raise MaintenanceError(f"cannot back up to {target}: it exists; name a new file")
    partial = target.with_name(f"{target.name}.partial")
    try:
        with closing(_open_read_only(source)) as log, closing(sqlite3.connect(partial)) as copy:
            log.backup(copy)
            # A single file, without a WAL file.
            copy.execute("PRAGMA journal_mode = DELETE")
        partial.replace(target)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise MaintenanceError(f"cannot back up {source} to {target}: {error}") from error
    return f"{_contents_summary(target)} of {source} are in {target}"


def restore(directory: Path, source: Path) -> str:
    """Replace the log of a data directory by a backup; keep the old log next to it; return a one-line summary.

    Raises:
        MaintenanceError: the backup is damaged or of another version, or the service runs.
    """
    contents, damage = check(source)
    if damage:
        raise MaintenanceError(f"cannot restore {source}: it is damaged ({damage[0]}); take another backup")
    lock = _lock(directory, f"restore to {directory}")
    place = directory / FILE_NAME
    partial = place.with_name(f"{FILE_NAME}.partial")
    try:
        with closing(_open_read_only(source)) as backed_up, closing(sqlite3.connect(partial)) as copy:
            backed_up.backup(copy)
        kept = _set_aside(place)
        delete_states(directory)
        partial.replace(place)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise MaintenanceError(f"cannot restore {source} to {place}: {error}") from error
    finally:
        os.close(lock)
    return f"{contents} of {source} are in {place}" + (f"; the log that was there is {kept}" if kept else "")


def check(file: Path) -> tuple[str, list[str]]:
    """Read everything in a log file; return a summary of its contents and the list of damage.

    Raises:
        MaintenanceError: the file is not a log, or of another version of the service.
    """
    damage: list[str] = []
    try:
        with closing(_open_read_only(file)) as log:
            version = log.execute("PRAGMA user_version").fetchone()[0]
            if version != SCHEMA_VERSION:
                raise MaintenanceError(
                    f"cannot read {file}: it has schema {version}, this version of the service has {SCHEMA_VERSION};"
                    " use the service that wrote it"
                )
            damage += [row[0] for row in log.execute("PRAGMA integrity_check") if row[0] != "ok"]
            damage += damaged_rows(FileRows(log))
            return _contents_summary(file), damage
    except sqlite3.Error as error:
        raise MaintenanceError(f"cannot read {file}: {error}") from error


def check_database(address: PostgresAddress) -> tuple[str, list[str]]:
    """Read everything in a log in Postgres; return a summary of its contents and the list of damage.

    Raises:
        MaintenanceError: the database cannot be read, or has no log.
    """
    # Imported here: without Postgres, the service does not need the driver.
    from lineage.store.postgres.rows_as_of import rows_of

    try:
        with rows_of(address) as log:
            events, snapshots = log.counts()
            return f"{events} events and {snapshots} snapshots", damaged_rows(log)
    except StoreError as error:
        raise MaintenanceError(str(error)) from error


def move(directory: Path, address: PostgresAddress) -> str:
    """Copy the log of a data directory into an empty database; return a one-line summary.

    Raises:
        MaintenanceError: the log is damaged, the service runs, or the database has events or cannot be written.
    """
    # Imported here: without Postgres, the service does not need the driver.
    from lineage.store.postgres.move import move_log

    source = directory / FILE_NAME
    contents, damage = check(source)
    if damage:
        raise MaintenanceError(f"cannot move {source}: it is damaged ({damage[0]}); restore a backup first")
    lock = _lock(directory, f"move {source}")
    try:
        with closing(_open_read_only(source)) as file:
            file.execute("BEGIN")
            move_log(file, address)
    except (sqlite3.Error, StoreError, StoreUnusable) as error:
        raise MaintenanceError(f"cannot move {source} to {address}: {error}") from error
    finally:
        os.close(lock)
    return f"{contents} of {source} are in {address}; start the service with --store, the file is not used any more"


def damaged_rows(log: LogRows) -> list[str]:
    """Read every snapshot and every event of a log; return the list of damage."""
    return _damaged_snapshots(log) + _damaged_events(log)


def _damaged_events(log: LogRows) -> list[str]:
    damage: list[str] = []
    place = 0
    while rows := log.event_rows(place, END_OF_TIME):
        for _ in stored_events(rows, lambda content_hash, error: damage.append(f"event {content_hash.hex()}: {error}")):
            pass
        place = rows[-1].seq
    return damage


def _damaged_snapshots(log: LogRows) -> list[str]:
    lineage = LineageRecords()
    snapshots = None
    try:
        while snapshots := log.snapshot_page(snapshots[-1].key if snapshots else None):
            restore_snapshots(lineage, snapshots)
    except Exception as error:
        return [f"snapshots: {error!r}"]
    return []


def _lock(directory: Path, attempt: str) -> int:
    """Lock a data directory against the service; return the open lock file."""
    try:
        return lock_directory(directory)
    except StoreUnusable as error:
        raise MaintenanceError(f"cannot {attempt}: {error}; stop the service first") from error


def _contents_summary(file: Path) -> str:
    with closing(_open_read_only(file)) as log:
        events, snapshots = (
            log.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("events", "snapshots")
        )
    return f"{events} events and {snapshots} snapshots"


def _open_read_only(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        raise MaintenanceError(f"cannot read {file}: no such file")
    # Reading a file that was closed in WAL mode requires its index, which a read-only connection cannot create.
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)


def _set_aside(place: Path) -> Path | None:
    """Rename a log with its SQLite side files to unused names; return the log's new name."""
    if not place.exists():
        return None
    number = 1
    while (kept := place.with_name(f"{place.stem}-before-restore-{number}{place.suffix}")).exists():
        number += 1
    for ending in ("", "-wal", "-shm"):
        beside = place.with_name(place.name + ending)
        if beside.exists():
            beside.replace(kept.with_name(kept.name + ending))
    return kept


def _database(text: str) -> str:
    try:
        return check_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _check_place(place: str | Path) -> tuple[str, list[str]]:
    if isinstance(place, Path):
        return check(place)
    return check_database(PostgresAddress(place, os.environ.get(PASSWORD)))


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m lineage.maintenance", description="Back up, restore, check or move an event log."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    moving = commands.add_parser("move")
    moving.add_argument("--data", type=Path, required=True, help="directory of the event log")
    moving.add_argument("--store", type=_database, required=True, metavar="URL", help=f"database; password: {PASSWORD}")
    for name, file in (("backup", True), ("restore", True), ("check", False)):
        command = commands.add_parser(name)
        places = command.add_mutually_exclusive_group(required=True)
        places.add_argument("--data", type=Path, help="directory of the event log")
        places.add_argument("--store", type=_database, metavar="URL", help=f"log in Postgres; password: {PASSWORD}")
        if file:
            command.add_argument("file", type=Path, help="the backup")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.store and chosen.command not in ("check", "move"):
            raise MaintenanceError(
                f"cannot {chosen.command} {chosen.store}: it is a Postgres database; use pg_dump --schema={SCHEMA} and"
                " pg_restore, with all instances stopped for a restore"
            )
        match chosen.command:
            case "backup":
                print(backup(chosen.data, chosen.file))
            case "restore":
                print(restore(chosen.data, chosen.file))
            case "move":
                print(move(chosen.data, PostgresAddress(chosen.store, os.environ.get(PASSWORD))))
            case _:
                place = chosen.store or chosen.data / FILE_NAME
                contents, damage = _check_place(place)
                print(f"{contents} are in {place}: " + ("damaged" if damage else "no damage"))
                print(*damage, sep="\n", end="\n" if damage else "")
                return 1 if damage else 0
    except MaintenanceError as error:
        print(f"lineage: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
