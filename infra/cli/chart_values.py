# SPDX-License-Identifier: Apache-2.0
"""YAML of chart values: texts of several lines as blocks, as a person would write them."""

from typing import Any

import yaml


class _BlockDumper(yaml.SafeDumper):
    """Dumper that writes texts of several lines as literal blocks and repeats equal values instead of using aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_BlockDumper.add_representer(str, _represent_text)


def render_values(values: dict[str, Any], heading: str) -> str:
    """Return values as YAML, below a comment of one line."""
    body = yaml.dump(values, Dumper=_BlockDumper, sort_keys=False, width=120, allow_unicode=True)
    return f"# {heading}\n{body}"
