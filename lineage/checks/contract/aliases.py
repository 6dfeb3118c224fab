# SPDX-License-Identifier: Apache-2.0
"""Short names of namespaces in YAML files: `lake/sales/orders` with the alias `lake: s3://warehouse`."""

import re

from lineage.checks.contract.model import Dataset
from lineage.checks.contract.yaml_field import Field

_NAMESPACE = re.compile(r"(?P<namespace>[a-z][a-z0-9+.-]*://[^/]+)/(?P<name>.+)")


class Aliases:
    """Aliases of a file."""

    def __init__(self, field: Field | None) -> None:
        """Read the mapping from alias to namespace, or to a namespace and the beginning of a name.

        Raises:
            ContractError: it is not valid.
        """
        self._targets: dict[str, str] = {}
        for name, target in (field.mapping() if field else {}).items():
            if "/" in name:
                raise target.error(f"alias {name!r} must not contain a slash")
            if "://" not in target.text():
                raise target.error(f"{target.text()!r} must be a namespace or dataset such as s3://bucket/path")
            self._targets[name] = target.text().rstrip("/")

    def dataset(self, field: Field, text: str) -> Dataset:
        """Return the dataset of `alias/name` or `scheme://authority/name`; `field` is the place of errors.

        Raises:
            ContractError: it is neither.
        """
        full = text
        if "://" not in text:
            head, slash, rest = text.partition("/")
            if head not in self._targets:
                raise field.error(f"{head!r} is not an alias, and {text!r} is not of the form scheme://authority/name")
            full = self._targets[head] + slash + rest
        match = _NAMESPACE.fullmatch(full)
        if match is None:
            raise field.error(f"{full!r} is not a dataset; write scheme://authority/name")
        return Dataset(match["namespace"], match["name"])
