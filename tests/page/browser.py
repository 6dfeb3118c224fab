# SPDX-License-Identifier: Apache-2.0
"""Chromium driven by Playwright, and page visits that fail on errors, dialogs and foreign requests."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
NO_CHROMIUM = "no chromium on PATH (Debian: apt-get install chromium fonts-dejavu)"
WIDE = {"width": 1280, "height": 800}
KEY_NAME = "lineage-key"
"""Name of the page's key in the session storage of a tab, as in page/src/state/storedKey.ts."""

NARROW = {"width": 390, "height": 844}
MAX_TEXT = 4_000
"""Characters of a page's text in the report of a failed test."""

VISITS: list["Visit"] = []
"""The open visits, for the report of a failed test."""


@contextmanager
def chromium() -> Iterator:
    """A headless Chromium. Skips the test if Playwright or Chromium is missing."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed (bin/lab setup --tests)"
    )
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with playwright.sync_playwright() as driver:
        # Chromium's sandbox does not run as root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A browser page on one service, and the problems observed on it."""

    page: object
    url: str
    problems: list[str] = field(default_factory=list)
    unanswered: set = field(default_factory=set)
    rejected: list[str] = field(default_factory=list)

    def description(self) -> str:
        """URL, unanswered and rejected requests, and text of the page."""
        try:
            text = self.page.locator("body").inner_text(timeout=5_000)[:MAX_TEXT]
        except Exception as error:
            text = f"the page cannot be read: {error}"
        unanswered = sorted(request.url for request in self.unanswered)
        return f"{self.page.url}\nunanswered: {unanswered}\nrejected: {self.rejected}\n{text}"

    def open(self, **route: str) -> None:
        """Open a view and wait until it shows content or a notice."""
        self.page.goto(f"{self.url}/?{urlencode(route)}")
        self.page.locator("main").wait_for()
        drawn = ".cards button, .notice, .list table, .list .causes, .lab dl, .list .error"
        self.page.locator(drawn).first.wait_for(state="attached")

    def choose_column(self, name: str) -> dict[str, list[str]]:
        """Search for a column with the keyboard, open the first hit and return the query parameters of its URL."""
        self.page.keyboard.press("/")
        self.page.keyboard.type(name)
        self.page.get_by_role("option", selected=True).get_by_text(name).wait_for()
        self.page.keyboard.press("Enter")
        self.page.locator(".columns .cards button").first.wait_for(state="attached")
        return parse_qs(urlsplit(self.page.url).query)

    def card(self, node: str):
        """The button over a node's card."""
        quoted = node.replace("\\", "\\\\").replace('"', '\\"')
        return self.page.locator(f'.cards [data-node="{quoted}"]')

    def cards(self) -> set[str]:
        """Ids of the cards in view."""
        return set(self.page.locator(".cards button").evaluate_all("all => all.map(one => one.dataset.node)"))


@contextmanager
def visiting(browser, url: str, size=WIDE, dark: bool = False, key: str = "") -> Iterator[Visit]:
    """A visit, with an API key if one is given, that fails on script errors, dialogs and requests to other hosts."""
    context = browser.new_context(viewport=size, color_scheme="dark" if dark else "light", accept_downloads=True)
    if key:
        context.add_init_script(f"sessionStorage.setItem({json.dumps(KEY_NAME)}, {json.dumps(key)})")
    page = context.new_page()
    visit = Visit(page, url)
    page.on("pageerror", lambda error: visit.problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (visit.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: (_check_request(request.url, url, visit), visit.unanswered.add(request)))
    page.on("requestfinished", lambda request: visit.unanswered.discard(request))
    page.on("requestfailed", lambda request: (visit.unanswered.discard(request), visit.rejected.append(request.url)))
    page.on("response", lambda response: _note_rejection(response, visit))
    VISITS.append(visit)
    try:
        yield visit
    finally:
        VISITS.remove(visit)
        context.close()
    assert visit.problems == [], visit.problems


def _note_rejection(response, visit: Visit) -> None:
    if response.status >= 400:
        visit.rejected.append(f"{response.status} {response.url}")


def _check_request(requested: str, url: str, visit: Visit) -> None:
    if not requested.startswith((f"{url}/", "blob:", "data:")):
        visit.problems.append(f"request to {requested}")
