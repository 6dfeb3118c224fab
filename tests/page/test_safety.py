# SPDX-License-Identifier: Apache-2.0
"""Safety in a real browser: pages of other origins, hostile names, keys, and more tabs than connections."""

import json
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from lineage.access.keys import add_key
from lineage.access.scopes import Scope
from tests.bench.service_process import running_service
from tests.page.attacker import attacker
from tests.page.browser import visiting
from tests.page.conftest import Served

pytestmark = pytest.mark.slow

HOSTILE_NAMES = ("constructor", "__proto__", "constructor://x", "toString:", "hasOwnProperty://__proto__", "<b>x</b>")
TABS = 7

ATTACK = """
async (url) => {
  const text = JSON.stringify({eventTime: new Date().toISOString(), producer: "urn:attacker", schemaURL: "urn:x",
    job: {namespace: "attacker", name: "x"}, run: {runId: crypto.randomUUID()}, eventType: "START"});
  const json = {"Content-Type": "application/json"};
  const attempts = {
    read: () => fetch(`${url}/api/v1/graph`),
    readBlindly: () => fetch(`${url}/api/v1/graph`, {mode: "no-cors"}),
    write: () => fetch(`${url}/api/v1/lineage`, {method: "POST", headers: json, body: text}),
    writeAsText: () => fetch(`${url}/api/v1/lineage`, {method: "POST", mode: "no-cors", body: text}),
    beacon: async () => {
      navigator.sendBeacon(`${url}/api/v1/lineage`, new Blob([text]));
      return {type: "opaque"};
    },
    rebuild: () => fetch(`${url}/api/v1/rebuild`, {method: "POST", mode: "no-cors"}),
    compact: () => fetch(`${url}/api/v1/compact?before=2200-01-01T00:00:00Z`, {method: "POST", mode: "no-cors"}),
    remove: () => fetch(`${url}/api/v1/namespaces/victim`, {method: "DELETE"}),
    image: () => new Promise((done, fail) => {
      const image = new Image();
      image.onload = () => done({type: "read"});
      image.onerror = fail;
      image.src = `${url}/icon.svg`;
    }),
    script: () => new Promise((done, fail) => {
      const script = document.createElement("script");
      script.onload = () => done({type: "read"});
      script.onerror = fail;
      script.src = `${url}/api/v1/graph`;
      document.head.append(script);
    }),
    stream: () => new Promise((done, fail) => {
      const source = new EventSource(`${url}/api/v1/changes`);
      source.onopen = () => done({type: "read"});
      source.onerror = () => { source.close(); fail(); };
    }),
  };
  const found = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try { found[name] = (await attempt()).type; } catch { found[name] = "refused"; }
  }
  document.forms[0].action = `${url}/api/v1/lineage`;
  document.forms[0].submit();
  return found;
}
"""


def event_of(namespace, number, job_facets=None):
    used = [{"namespace": namespace, "name": namespace, "facets": {}}]
    return {
        "eventType": "START",
        "eventTime": f"2026-01-01T00:00:{number:02d}Z",
        "producer": "urn:test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"01900000-0000-7000-8000-{number:012d}", "facets": {}},
        "job": {"namespace": namespace, "name": namespace, "facets": job_facets or {}},
        "inputs": used,
        "outputs": [{"namespace": namespace, "name": f"{namespace} out", "facets": {}}],
    }


def test_a_page_of_another_origin_reads_and_changes_nothing(browser, empty):
    empty.send(event_of("victim", 1))
    before = empty.get("/api/v1/graph")
    with attacker() as port:
        context = browser.new_context()
        try:
            for host in ("localhost", "127.0.0.1"):
                page = context.new_page()
                page.goto(f"http://{host}:{port}/")
                found = page.evaluate(ATTACK, empty.url)
                assert "read" not in found.values(), found
                # An opaque response is one that the page cannot read; what it did is checked below.
                readable = {name for name, kind in found.items() if kind not in ("refused", "opaque")}
                assert readable == set(), found
                page.wait_for_timeout(300)
        finally:
            context.close()
    assert empty.get("/api/v1/graph") == before
    stats = empty.get("/api/v1/stats")
    assert (stats["stored"], stats["logged"]) == (1, 1)


def test_a_rebound_name_is_refused(empty):
    request = Request(f"{empty.url}/api/v1/graph", headers={"Host": "rebind.attacker.example"})
    with pytest.raises(OSError, match="421"):
        urlopen(request, timeout=60)


def test_hostile_names_do_not_take_the_page_away(browser, empty):
    odd = {"jobType": {"_producer": "urn:x", "_schemaURL": "urn:x", "processingType": "BATCH", "integration": {"a": 1}}}
    events = [event_of(name, number) for number, name in enumerate(HOSTILE_NAMES)]
    empty.send(*events, event_of("shop", 40))
    body = json.dumps(event_of("odd facets", 30, odd)).encode()
    # Facets that the graph uses are validated; whether this one is or not, the page must be usable.
    with suppress(HTTPError):
        urlopen(Request(f"{empty.url}/api/v1/lineage", body, {"Content-Type": "application/json"}), timeout=60).close()
    with visiting(browser, empty.url) as visit:
        visit.open()
        assert "job:shop:shop" in visit.cards()
        for name in HOSTILE_NAMES:
            visit.open(node=f"job:{name}:{name}")
            visit.page.locator("aside").first.wait_for()


def test_a_seventh_tab_loads_and_all_are_live(browser, empty):
    context = browser.new_context()
    try:
        tabs = [context.new_page() for _ in range(TABS)]
        for tab in tabs:
            tab.goto(empty.url)
            tab.get_by_role("status").get_by_text("live", exact=True).wait_for()
        assert empty.get("/api/v1/stats")["listeners"] == 1
        empty.send(event_of("shop", 1))
        for tab in tabs:
            tab.locator('.cards [data-node="job:shop:shop"]').wait_for()
    finally:
        context.close()


def test_the_page_asks_for_a_key_and_shares_it_between_tabs(browser, site, tmp_path):
    keys = tmp_path / "keys.json"
    reader, sender = add_key(keys, "people", [Scope.READ]), add_key(keys, "jobs", [Scope.INGEST])
    with running_service(tmp_path / "data", "--page", site, "--keys", keys) as process:
        served = Served(process)
        body = json.dumps(event_of("shop", 1)).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {sender}"}
        with urlopen(Request(f"{served.url}/api/v1/lineage", body, headers), timeout=60):
            pass
        context = browser.new_context()
        try:
            first = context.new_page()
            first.goto(served.url)
            for key in (sender, "x" * 43, reader):
                first.get_by_label("API key").fill(key)
                first.get_by_role("button", name="Log in").click()
            card = '.cards [data-node="job:shop:shop"]'
            first.locator(card).wait_for()
            first.get_by_role("status").get_by_text("live", exact=True).wait_for()
            first.reload()
            first.locator(card).wait_for()
            second = context.new_page()
            second.goto(served.url)
            second.locator(card).wait_for()
            assert first.evaluate("document.cookie") == ""
        finally:
            context.close()
