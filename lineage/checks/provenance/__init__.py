# SPDX-License-Identifier: Apache-2.0
"""Evidence of where a dataset or column comes from, as one document that shows later changes of it."""

from lineage.checks.provenance.collect import Reader, collect
from lineage.checks.provenance.document import is_unaltered, signed
from lineage.checks.provenance.html_page import render_html

__all__ = ["Reader", "collect", "is_unaltered", "render_html", "signed"]
