# SPDX-License-Identifier: Apache-2.0
"""Parser of lineage contracts."""

import re
from collections.abc import Iterable

from lineage.checks.columns import Column, Compatibility, canonical_type
from lineage.checks.contract.aliases import Aliases
from lineage.checks.contract.model import (
    AgreedSchema,
    Contract,
    Dataset,
    DatasetRow,
    Features,
    InputRow,
    JobRow,
    OutputRow,
    Source,
    Sources,
    Transformation,
)
from lineage.checks.contract.yaml_field import Field, items_of, parse_yaml

VERSION = "1"

_TYPE_OF = dict.fromkeys(("IDENTITY", "TRANSFORMATION", "AGGREGATION"), "DIRECT") | dict.fromkeys(
    ("JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"), "INDIRECT"
)
_DURATION = re.compile(r"(\d{1,9})\s*([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SOURCE = re.compile(
    r"(?:(?P<dataset>[^#]+)#)?(?P<field>.+?)\s+(?:(?P<type>[A-Z_]+):)?(?P<subtype>[A-Z_]+)(?P<masked>\s+masked)?"
)


def load(text: str) -> Contract:
    """Read a contract from YAML.

    Raises:
        ContractError: names line and field of the first mistake.
    """
    root = parse_yaml(text).keys({"version", "namespace", "jobs"}, {"aliases", "datasets"})
    if root["version"].text() != VERSION:
        raise root["version"].error(f"{root['version'].text()!r} is unknown; this check reads version {VERSION}")
    reader = _ContractReader(Aliases(root.get("aliases")))
    jobs: dict[str, JobRow] = {}
    for field in root["jobs"].items():
        job = reader.job(field)
        if job.name in jobs:
            raise field.error(f"job {job.name!r} is defined twice")
        jobs[job.name] = job
    datasets: dict[Dataset, DatasetRow] = {}
    for field in items_of(root.get("datasets")):
        row = reader.dataset(field)
        if row.dataset in datasets:
            raise field.error(f"dataset {row.dataset} is defined twice")
        datasets[row.dataset] = row
    return Contract(root["namespace"].text(), tuple(jobs.values()), tuple(datasets.values()))


class _ContractReader:
    """Reads rows under one set of aliases."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases

    def job(self, field: Field) -> JobRow:
        entries = field.keys({"job"}, {"requires", "inputs", "outputs"})
        inputs = tuple(self._input_row(row) for row in items_of(entries.get("inputs")))
        known = [row.dataset for row in inputs]
        outputs = tuple(self._output_row(row, known) for row in items_of(entries.get("outputs")))
        for row in (inputs, outputs):
            if len({item.dataset for item in row}) < len(row):
                raise field.error("lists a dataset twice")
        if not inputs and not outputs:
            raise field.error("names neither inputs nor outputs; jobs without datasets are never checked")
        return JobRow(entries["job"].text(), _required_features(entries.get("requires")), inputs, outputs)

    def dataset(self, field: Field) -> DatasetRow:
        entries = field.keys({"dataset"}, {"requires", "schema", "freshness"})
        if not entries.keys() & {"schema", "freshness"}:
            raise field.error("demands nothing; write `schema` or `freshness`")
        return DatasetRow(
            self._aliases.dataset(entries["dataset"], entries["dataset"].text()),
            _required_features(entries.get("requires")),
            _agreed_schema(entries["schema"]) if "schema" in entries else None,
            _seconds(entries["freshness"]) if "freshness" in entries else None,
        )

    def _input_row(self, field: Field) -> InputRow:
        if not field.is_mapping:
            return InputRow(self._aliases.dataset(field, field.text()), frozenset())
        entries = field.keys({"dataset"}, {"requires"})
        dataset = self._aliases.dataset(entries["dataset"], entries["dataset"].text())
        return InputRow(dataset, _required_features(entries.get("requires")))

    def _output_row(self, field: Field, inputs: list[Dataset]) -> OutputRow:
        if not field.is_mapping:
            return OutputRow(self._aliases.dataset(field, field.text()), frozenset(), None, {})
        entries = field.keys({"dataset"}, {"requires", "columns", "dataset_columns"})
        if "dataset_columns" in entries and "columns" not in entries:
            raise entries["dataset_columns"].error("requires `columns`; write `columns: {}` if there are none")
        columns = None
        if "columns" in entries:
            rows = entries["columns"].mapping()
            columns = {name: self._column_sources(row.items(), inputs) for name, row in rows.items()}
        return OutputRow(
            self._aliases.dataset(entries["dataset"], entries["dataset"].text()),
            _required_features(entries.get("requires")),
            columns,
            self._column_sources(items_of(entries.get("dataset_columns")), inputs),
        )

    def _column_sources(self, fields: Iterable[Field], inputs: list[Dataset]) -> Sources:
        sources: Sources = {}
        for field in fields:
            match = _SOURCE.fullmatch(field.text().strip())
            if match is None:
                raise field.error(f"{field.text()!r} is not [DATASET#]FIELD KIND [masked]")
            source = Source(self._source_dataset(field, match["dataset"], inputs), match["field"])
            transformation = _parse_transformation(field, match)
            sources[source] = sources.get(source, frozenset()) | {transformation}
        return sources

    def _source_dataset(self, field: Field, text: str | None, inputs: list[Dataset]) -> Dataset:
        if text is None:
            if len(inputs) != 1:
                raise field.error(f"write DATASET#FIELD: the job has {len(inputs)} inputs, not one")
            return inputs[0]
        dataset = self._aliases.dataset(field, text.strip())
        if dataset not in inputs:
            raise field.error(f"{dataset} is not an input of this job")
        return dataset


def _agreed_schema(field: Field) -> AgreedSchema:
    entries = field.keys({"columns"}, {"compatibility", "version"})
    columns = tuple(_agreed_column(name, row) for name, row in entries["columns"].mapping().items())
    if not columns:
        raise entries["columns"].error("lists no column")
    mode = Compatibility.EXACT
    if "compatibility" in entries:
        text = entries["compatibility"].text()
        if text not in Compatibility.__members__:
            raise entries["compatibility"].error(f"{text!r} is none of {', '.join(Compatibility)}")
        mode = Compatibility[text]
    return AgreedSchema(columns, mode, entries["version"].text() if "version" in entries else "")


def _agreed_column(name: str, field: Field) -> Column:
    text = field.text().strip()
    return Column(name, canonical_type(text.removesuffix("?")), text.endswith("?"))


def _seconds(field: Field) -> int:
    match = _DURATION.fullmatch(field.text().strip())
    if match is None or not int(match[1]):
        raise field.error(f"{field.text()!r} is not a duration such as 90s, 15m, 2h or 1d")
    return int(match[1]) * _SECONDS[match[2]]


def _parse_transformation(field: Field, match: re.Match[str]) -> Transformation:
    kind = match["type"] or _TYPE_OF.get(match["subtype"])
    if kind is None:
        known = ", ".join(sorted(_TYPE_OF))
        raise field.error(f"{match['subtype']} is none of {known}; write DIRECT: or INDIRECT: before another")
    return Transformation(kind, match["subtype"], match["masked"] is not None)


def _required_features(field: Field | None) -> Features:
    return frozenset(item.text() for item in items_of(field))
