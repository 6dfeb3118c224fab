# SPDX-License-Identifier: Apache-2.0
"""The document of a provenance as an HTML page without scripts and references. Pure."""

from collections.abc import Iterable, Sequence
from html import escape

from lineage.events import JsonObject

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1b1b }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
th, td { border-bottom: 1px solid #ccc; padding: .35rem .5rem; text-align: left; vertical-align: top }
pre { margin: 0; white-space: pre-wrap } code, pre { font-size: 12px; overflow-wrap: anywhere }
"""


def render_html(document: JsonObject) -> str:
    """Return the page."""
    subject, time, digest = full_name(document["subject"]), document["at"], document["sha256"]
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><meta charset="utf-8"><title>{escape(f"Provenance of {subject}")}</title>',
            f"<style>{_STYLE}</style>",
            f"<h1>Provenance of {escape(subject)}</h1>",
            f"<p>At {escape(time)}, from {escape(document['service'])}. SHA-256 <code>{escape(digest)}</code></p>",
            "<h2>Sources</h2>",
            _datasets(row for row in document["datasets"] if row["isSource"]),
            "<h2>Derived datasets</h2>",
            _datasets(row for row in document["datasets"] if not row["isSource"]),
            "<h2>Jobs</h2>",
            _jobs(document["jobs"]),
            "<h2>Edges</h2>",
            _table(("output", "input", "transformation", "job"), map(_edge, document["edges"])),
            "</html>\n",
        ]
    )


def full_name(row: JsonObject) -> str:
    """Return the name of a dataset, column or job."""
    field = f"#{row['field']}" if row.get("field") is not None else ""
    return f"{row['namespace']}/{row['name']}{field}"


def _datasets(rows: Iterable[JsonObject]) -> str:
    heads = ("dataset", "version", "schema", "owners and tags")
    return _table(
        heads, ((_named(row), _version(row), _schema(row), _listed(row["owners"], row["tags"])) for row in rows)
    )


def _jobs(rows: Iterable[JsonObject]) -> str:
    heads = ("job", "run", "code", "owners")
    return _table(heads, ((_named(row), _run(row), _code(row), _listed(row["owners"])) for row in rows))


def _named(row: JsonObject) -> str:
    return escape(full_name(row)) + ("" if row["certain"] else "<br>perhaps: a job in between has no column lineage")


def _version(row: JsonObject) -> str:
    return (
        f"<code>{escape(row['version'])}</code><br>since {escape(row['versionSince'])}" if row["version"] else "unknown"
    )


def _schema(row: JsonObject) -> str:
    if not row["schema"]:
        return "unknown"
    fields = ", ".join(f"{field['name']} {field['type'] or ''}".strip() for field in row["schema"])
    return f"{escape(fields)}<br><code>{escape(row['schemaHash'])}</code>"


def _run(row: JsonObject) -> str:
    if row["run"] is None:
        return "none"
    times = f"{row['startedAt']} to {row['endedAt'] or 'now'}"
    return f"<code>{escape(row['run'])}</code><br>{escape(row['state'])}, {escape(times)}"


def _code(row: JsonObject) -> str:
    return f"<pre>{escape(row['code'])}</pre><code>{escape(row['codeHash'])}</code>" if row["code"] else "unknown"


def _listed(*groups: Sequence[str]) -> str:
    return "<br>".join(escape(", ".join(group)) for group in groups if group)


def _edge(edge: JsonObject) -> tuple[str, str, str, str]:
    kind = "/".join(part for part in (edge["type"], edge["subtype"]) if part)
    kind += ", masked" if edge["masking"] else ""
    output, source, job = (escape(full_name(edge[key])) for key in ("output", "input", "job"))
    return output, source, escape(kind), job


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells of the rows are HTML."""
    head = "".join(f"<th>{escape(each)}" for each in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}" for cell in row) for row in rows)
    return f"<table><tr>{head}\n{body}\n</table>" if body else "<p>none</p>"
