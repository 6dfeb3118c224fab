# SPDX-License-Identifier: Apache-2.0
"""Datasets that a Flink SQL script names: tables of the lake, and topics of tables that it declares.

It reads names without Flink: the columns of a statement need Flink's planner (`lineagelab_flink.columns`).
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from infra.lint.named_datasets import NamedDataset, Use, table, topic

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*(?!\+).*?\*/)
      |'(?P<text>(?:[^']|'')*)'
      |`(?P<quoted>(?:[^`]|``)*)`
      |(?P<word>[A-Za-z_$][\w$]*)
      |(?P<sign>[^\s])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    """A token; `kind` is text, quoted, word or sign."""

    kind: str
    value: str
    line: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.value.upper() in words


_Declared = dict[str, dict[str, str]]
"""Tables that the script declares for itself -> their options."""


def names_of_sql(script: str) -> Iterator[NamedDataset]:
    """Yield what the script's statements read and write, by way of the tables that it declares."""
    declared: _Declared = {}
    for statement in _statements(script):
        if _declaration(statement, declared):
            continue
        yield from _names(statement, declared)


def _statements(script: str) -> Iterator[list[_Token]]:
    statement: list[_Token] = []
    line, counted = 1, 0
    for found in _TOKEN.finditer(script):
        line, counted = line + script.count("\n", counted, found.start()), found.start()
        kind = str(found.lastgroup)
        if kind == "comment":
            continue
        if kind == "sign" and found.group() == ";":
            yield statement
            statement = []
            continue
        statement.append(_Token(kind, found[kind], line))
    if statement:
        yield statement


def _declaration(statement: Sequence[_Token], declared: _Declared) -> bool:
    """Record a table that a connector other than Iceberg's provides, or a view; return True for one."""
    words = [token.value.upper() for token in statement[:6] if token.kind == "word"]
    if words[:1] != ["CREATE"] or not {"TABLE", "VIEW"} & set(words):
        return False
    at = next(at for at, token in enumerate(statement) if token.is_word("TABLE", "VIEW")) + 1
    while at < len(statement) and statement[at].is_word("IF", "NOT", "EXISTS"):
        at += 1
    name, _ = _name_at(statement, at)
    options = dict(_options(statement))
    if "VIEW" in words or "connector" in options:
        declared[name] = options
    # A view reads, and CREATE TABLE ... AS SELECT reads and writes.
    return "VIEW" not in words and not any(token.is_word("SELECT") for token in statement)


def _options(statement: Sequence[_Token]) -> Iterator[tuple[str, str]]:
    texts = [(at, token) for at, token in enumerate(statement) if token.kind == "text"]
    for (at, key), (then, value) in itertools.pairwise(texts):
        if then == at + 2 and statement[at + 1].value == "=":
            yield key.value, value.value


def _names(statement: Sequence[_Token], declared: _Declared) -> Iterator[NamedDataset]:
    local = {token.value for token, after in itertools.pairwise(statement) if after.is_word("AS")}
    for at, token in enumerate(statement):
        if not token.is_word("FROM", "JOIN", "INTO", "OVERWRITE", "TABLE"):
            continue
        start = at + 1
        while start < len(statement) and statement[start].is_word("TABLE", "IF", "NOT", "EXISTS"):
            start += 1
        name, end = _name_at(statement, start)
        if not name or (end == start + 1 and name in local and name not in declared):
            continue
        is_written = token.is_word("INTO", "OVERWRITE") or (token.is_word("TABLE") and statement[0].is_word("CREATE"))
        hint = dict(_options(_hint_at(statement, end)))
        known = declared.get(name)
        options = {**(known or {}), **hint}
        use = Use.WRITTEN if is_written else Use.READ
        line = statement[start].line
        for text in filter(None, re.split(r"[;,]", options.get("topic", ""))):
            yield NamedDataset(topic(text.strip()), use, line)
        if known is None and (found := table(name)):
            yield NamedDataset(found, use, line)


def _hint_at(statement: Sequence[_Token], at: int) -> Sequence[_Token]:
    r"""Return the tokens of a hint, `/*+ OPTIONS(...) */`; empty if there is none at a place."""
    if [token.value for token in statement[at : at + 3]] != ["/", "*", "+"]:
        return ()
    end = next((then for then in range(at, len(statement)) if statement[then].value == ")"), len(statement))
    return statement[at:end]


def _name_at(statement: Sequence[_Token], at: int) -> tuple[str, int]:
    """Return the dotted name that begins at a token, and the place after it; empty if there is none."""
    parts: list[str] = []
    while at < len(statement) and statement[at].kind in {"word", "quoted"}:
        parts.append(statement[at].value)
        at += 1
        if at < len(statement) and statement[at].value == ".":
            at += 1
            continue
        break
    return ".".join(parts), at
