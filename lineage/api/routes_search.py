# SPDX-License-Identifier: Apache-2.0
"""Marquez's search in names, SQL, source code and columns (`v2beta`)."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage.api.dependencies import NameListsDep, ServiceDep
from lineage.api.responses import json_response
from lineage.api.schemas import marquez
from lineage.api.time_slices import run_cooperatively
from lineage.marquez.full_text import FullTextSearch

router = APIRouter(prefix="/api/v2beta/search")

SearchText = Annotated[str, Query(min_length=1, max_length=1_000)]


@router.get("/jobs", response_model=marquez.JobHits)
async def search_jobs(service: ServiceDep, lists: NameListsDep, q: SearchText) -> Response:
    """Search jobs by name, namespace, SQL, source code and engine: the ten best hits."""
    search = FullTextSearch(lists.index, service.graph, q)
    await run_cooperatively(search.job_steps())
    return json_response(search.result())


@router.get("/datasets", response_model=marquez.DatasetHits)
async def search_datasets(service: ServiceDep, lists: NameListsDep, q: SearchText) -> Response:
    """Search datasets by name, namespace, columns and column lineage: the ten best hits."""
    search = FullTextSearch(lists.index, service.graph, q)
    await run_cooperatively(search.dataset_steps())
    return json_response(search.result())
