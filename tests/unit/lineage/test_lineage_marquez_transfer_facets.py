# SPDX-License-Identifier: Apache-2.0
"""Input and output facets of datasets: data quality and statistics, where Marquez serves them."""

from lineage_events import NAMESPACE, body, dataset, facet, run_id, schema
from test_lineage_api import get, post, with_client

TABLE = "/namespaces/s3%3A%2F%2Fwarehouse/datasets/t"
METRICS = facet(rowCount=7, bytes=70, columnMetrics={"a": {"nullCount": 1}})
ASSERTIONS = facet(assertions=[{"assertion": "not_null", "success": False, "column": "a"}])
READ = facet(rowCount=7, size=70)
WRITTEN = facet(rowCount=9, size=90, fileCount=2)
CHECKED = {"dataQualityMetrics": METRICS, "dataQualityAssertions": ASSERTIONS, "inputStatistics": READ}


def reading(**facets):
    return {**dataset("t"), "inputFacets": facets}


async def send_events(client):
    table = {**dataset("t", schema=schema("a")), "outputFacets": {"outputStatistics": WRITTEN}}
    for event in (
        body("COMPLETE", 0, run=1, job="writer", outputs=[table]),
        body("START", 10, run=2, job="checker", inputs=[dataset("t")]),
        body("COMPLETE", 11, run=2, job="checker", inputs=[reading(**CHECKED)]),
        body("START", 20, run=3, job="checker", inputs=[dataset("t")]),
    ):
        assert (await post(client, event)).status_code == 201


def asking(tmp_path, scenario):
    async def run(client):
        await send_events(client)
        await scenario(client)

    with_client(tmp_path, run)


def test_runs_have_the_facets_of_their_inputs_and_outputs(tmp_path):
    async def scenario(client):
        (written,) = (await get(client, f"/jobs/runs/{run_id(1)}"))["outputDatasetVersions"]
        assert written["facets"] == {"outputStatistics": WRITTEN}
        (read,) = (await get(client, f"/jobs/runs/{run_id(2)}"))["inputDatasetVersions"]
        assert read["facets"] == CHECKED
        listed = (await get(client, f"/namespaces/{NAMESPACE}/jobs/checker/runs"))["runs"]
        assert [run["inputDatasetVersions"][0]["facets"] for run in listed] == [{}, CHECKED]

    asking(tmp_path, scenario)


def test_datasets_and_current_versions_have_the_last_input_facets(tmp_path):
    async def scenario(client):
        version = (await get(client, TABLE))["currentVersion"]
        for path in (TABLE, f"{TABLE}/versions/{version}"):
            facets = (await get(client, path))["facets"]
            assert facets.keys() == {"schema", *CHECKED}
            assert {name: facets[name] for name in CHECKED} == CHECKED
        (listed,) = (await get(client, "/namespaces/s3%3A%2F%2Fwarehouse/datasets"))["datasets"]
        assert listed["facets"].keys() == {"schema", *CHECKED}
        passed = facet(assertions=[{"assertion": "not_null", "success": True, "column": "a"}])
        await post(client, body("COMPLETE", 21, run=3, job="checker", inputs=[reading(dataQualityAssertions=passed)]))
        await post(client, body("COMPLETE", 5, run=4, job="late", inputs=[reading(dataQualityAssertions=ASSERTIONS)]))
        assert (await get(client, TABLE))["facets"]["dataQualityAssertions"] == passed

    asking(tmp_path, scenario)


def test_input_facets_of_a_dataset_are_those_of_current_runs(tmp_path):
    async def scenario(client):
        await post(client, body("FAIL", 21, run=3, job="checker", inputs=[dataset("t")]))
        assert CHECKED.keys() <= (await get(client, TABLE))["facets"].keys()
        # A later complete run without them replaces the statement of the job.
        await post(client, body("COMPLETE", 30, run=4, job="checker", inputs=[dataset("t")]))
        assert (await get(client, TABLE))["facets"].keys() == {"schema"}
        (read,) = (await get(client, f"/jobs/runs/{run_id(2)}"))["inputDatasetVersions"]
        assert read["facets"] == CHECKED

    asking(tmp_path, scenario)


def test_facets_of_inputs_survive_a_rebuild_and_a_restart(tmp_path):
    paths = (TABLE, f"/jobs/runs/{run_id(1)}", f"/jobs/runs/{run_id(2)}")

    async def reads(client):
        return [await get(client, path) for path in paths]

    async def scenario(client):
        await send_events(client)
        before = await reads(client)
        assert (await client.post("/api/v1/rebuild")).json()["equal"] is True
        assert await reads(client) == before
        return before

    before = with_client(tmp_path, scenario)
    assert with_client(tmp_path, reads) == before
