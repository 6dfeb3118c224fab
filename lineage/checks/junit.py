# SPDX-License-Identifier: Apache-2.0
"""JUnit XML shared by all reports."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Case(NamedTuple):
    """One test case. It fails where there are `failures`, one line each; `notes` never fail it."""

    group: str
    name: str
    failures: Sequence[str] = ()
    notes: Sequence[str] = ()


def render_junit(suite: str, cases: Sequence[Case]) -> str:
    """Render one suite with these cases."""
    failed = sum(1 for case in cases if case.failures)
    element = ElementTree.Element("testsuite", name=suite, tests=str(len(cases)), failures=str(failed), errors="0")
    for case in cases:
        _add_case(element, case)
    suites = ElementTree.Element("testsuites")
    suites.append(element)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(
        suite, "testcase", classname=_xml_text(case.group), name=_xml_text(case.name), time="0"
    )
    if case.failures:
        failure = ElementTree.SubElement(element, "failure", message=_xml_text(case.failures[0]), type="lineage")
        failure.text = _xml_text("\n".join(case.failures))
    if case.notes:
        ElementTree.SubElement(element, "system-out").text = _xml_text("\n".join(case.notes))


def _xml_text(text: str) -> str:
    """Replace the characters that XML does not allow."""
    return _NOT_XML.sub("\ufffd", text)
