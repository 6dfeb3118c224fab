# SPDX-License-Identifier: Apache-2.0
"""Parser of SQL files: statements without comments, with `${NAME}` replaced and line numbers. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lineagelab_flink.errors import ScriptError

PLACEHOLDERS = (
    "KAFKA_BOOTSTRAP",
    "KAFKA_SECURITY_PROTOCOL",
    "KAFKA_SASL_MECHANISM",
    "SCHEMA_REGISTRY_URL",
    "ICEBERG_CATALOG_URL",
    "S3_ENDPOINT",
    "AWS_REGION",
    "CHECKPOINTS",
)
"""Placeholders of job files. Credentials are excluded; they stay in the cluster's environment."""

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*(?!\+).*?\*/ )
  | (?P<quoted> '(?:[^']|'')*' | `(?:[^`]|``)*` )
  | (?P<open> /\*(?!\+) | ' | ` )
  | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)
_PLACEHOLDER = re.compile(r"\$\{([^}\n]*)\}")
_SET_BEGIN = re.compile(r"\s*(?:EXECUTE\s+STATEMENT\s+SET\s+BEGIN|BEGIN\s+STATEMENT\s+SET)\b", re.IGNORECASE)
_SET_END = re.compile(r"\s*END\s*", re.IGNORECASE)
_INSERTS = re.compile(r"\s*(?:INSERT|EXECUTE\s+(?:INSERT|STATEMENT\s+SET))\b", re.IGNORECASE)
_CREATES_AS = re.compile(r"\s*(?:CREATE|REPLACE)\b.*\bTABLE\b.*\bAS\s*(?:SELECT\b|WITH\b|$)", re.IGNORECASE | re.DOTALL)
_INNERMOST = re.compile(r"\([^()]*\)")
_OWN_SETTING = re.compile(r"\s*SET\s*'(pipeline\.name|\$internal\.pipeline\.job-id)'", re.IGNORECASE)
_BLANK = re.compile(r"[^\n]")


@dataclass(frozen=True)
class Statement:
    """Statement without its semicolon.

    Attributes:
        file: name of its file, for messages.
        line: of its first word, from 1.
        bare: `text` with quoted parts blanked, of the same length.
    """

    text: str
    file: str
    line: int
    bare: str

    @property
    def writes(self) -> bool:
        """True for a statement that submits a job."""
        return bool(_INSERTS.match(self.bare) or _CREATES_AS.match(_without_parentheses(self.bare)))

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Script:
    """Statements that prepare, and the one that submits the job."""

    prepare: tuple[Statement, ...]
    job: Statement

    @property
    def text(self) -> str:
        """All statements as one script."""
        return "".join(f"{statement.text};\n" for statement in (*self.prepare, self.job))


def script(files: Sequence[tuple[str, str]], values: Mapping[str, str]) -> Script:
    """Return the script of several files, in order.

    Args:
        files: name and text of each; the last one submits the job.
        values: of `PLACEHOLDERS`.

    Raises:
        ScriptError: the message has file and line.
    """
    found = [statement for file, text in files for statement in statements(file, text, values)]
    name = files[-1][0]
    for statement in found:
        setting = _OWN_SETTING.match(statement.text)
        if setting:
            raise ScriptError(f"{statement.place}: remove {setting[1]}: the job is named after its file")
    jobs = [place for place, statement in enumerate(found) if statement.writes]
    if not jobs:
        raise ScriptError(f"{name}: no statement writes: expected an INSERT or a STATEMENT SET")
    if len(jobs) > 1:
        raise ScriptError(
            f"{found[jobs[1]].place}: a file is one job, and {found[jobs[0]].place} writes as well. "
            "Put both into EXECUTE STATEMENT SET BEGIN ... END, or each into its own file"
        )
    if jobs[0] != len(found) - 1:
        raise ScriptError(f"{found[jobs[0] + 1].place}: no statement may follow the one that writes")
    return Script(tuple(found[:-1]), found[-1])


def statements(file: str, text: str, values: Mapping[str, str]) -> list[Statement]:
    """Return the statements of one file; a statement set is one statement.

    Raises:
        ScriptError: the message has file and line.
    """
    found: list[Statement] = []
    parts: list[Statement] = []
    for statement in _simple(file, text, values):
        if not parts and not _SET_BEGIN.match(statement.bare):
            found.append(statement)
            continue
        parts.append(statement)
        if _SET_END.fullmatch(statement.bare):
            found.append(_statement_set(parts))
            parts = []
    if parts:
        raise ScriptError(f"{parts[0].place}: the statement set has no END;")
    return found


def placeholder_values(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the placeholders that have one in an environment."""
    return {name: environment[name] for name in PLACEHOLDERS if name in environment}


def with_values(text: str, values: Mapping[str, str], file: str, line: int) -> str:
    """Return a text, which begins at a line of a file, with the values of its placeholders.

    Raises:
        ScriptError: a placeholder is unknown or has no value; the message has file and line.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        where = f"{file}, line {line + _line(text, found.start()) - 1}"
        if name not in PLACEHOLDERS:
            near = get_close_matches(name, PLACEHOLDERS, n=1)
            guess = f"; did you mean ${{{near[0]}}}?" if near else "."
            raise ScriptError(f"{where}: unknown placeholder ${{{name}}}{guess} Known: {', '.join(PLACEHOLDERS)}")
        if name not in values:
            raise ScriptError(f"{where}: ${{{name}}} has no value: environment variable {name} is not set")
        return values[name]

    return _PLACEHOLDER.sub(value, text)


def _statement_set(parts: Sequence[Statement]) -> Statement:
    """Return a statement set in the form that the gateway accepts as one statement."""
    first = parts[0]
    begin = _SET_BEGIN.match(first.bare)
    assert begin is not None
    head = "EXECUTE STATEMENT SET BEGIN"
    inner = ";".join(part.text for part in (_tail(first, begin.end()), *parts[1:-1]))
    bare = ";".join(part.bare for part in (_tail(first, begin.end()), *parts[1:-1]))
    return Statement(f"{head}{inner}; END", first.file, first.line, f"{head}{bare}; END")


def _tail(statement: Statement, begin: int) -> Statement:
    return Statement(statement.text[begin:], statement.file, statement.line, statement.bare[begin:])


def _simple(file: str, text: str, values: Mapping[str, str]) -> Iterator[Statement]:
    """Split at semicolons. Comments become blanks, so that line numbers stay right."""
    kept, bare, begin = "", "", 0
    line = 1
    for token in _TOKEN.finditer(text):
        plain = _replaced(file, text, begin, token.start(), values)
        kept, bare = kept + plain, bare + plain
        begin = token.end()
        if token["open"]:
            raise ScriptError(f"{file}, line {_line(text, token.start())}: {token['open']} is not closed")
        if token["comment"]:
            blank = _BLANK.sub(" ", token["comment"])
            kept, bare = kept + blank, bare + blank
        elif token["quoted"]:
            quoted = _replaced(file, text, token.start(), token.end(), values)
            kept, bare = kept + quoted, bare + _BLANK.sub(" ", quoted)
        else:
            yield from _statement(file, kept, bare, line)
            kept, bare, line = "", "", _line(text, begin)
    rest = _replaced(file, text, begin, len(text), values)
    yield from _statement(file, kept + rest, bare + rest, line)


def _statement(file: str, text: str, bare: str, line: int) -> Iterator[Statement]:
    if text.strip():
        before = len(text) - len(text.lstrip())
        after = len(text.rstrip())
        yield Statement(text[before:after], file, line + text[:before].count("\n"), bare[before:after])


def _replaced(file: str, text: str, begin: int, end: int, values: Mapping[str, str]) -> str:
    return with_values(text[begin:end], values, file, _line(text, begin))


def _without_parentheses(bare: str) -> str:
    """Return the text outside all parentheses, inside which computed columns may contain AS."""
    while (shorter := _INNERMOST.sub("", bare)) != bare:
        bare = shorter
    return bare


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
