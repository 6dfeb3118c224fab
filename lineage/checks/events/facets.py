# SPDX-License-Identifier: Apache-2.0
"""The standard's facets: which class each key of each home stands for, as the Python client has them."""

from collections.abc import Iterator
from typing import NamedTuple

from openlineage.client import facet_v2 as f
from openlineage.client.facet_v2 import BaseFacet

from lineage.events import JsonObject

RUN, JOB, DATASET, INPUT, OUTPUT = "run", "job", "dataset", "input", "output"

CLASSES: dict[str, dict[str, type[BaseFacet]]] = {
    RUN: {
        "environmentVariables": f.environment_variables_run.EnvironmentVariablesRunFacet,
        "errorMessage": f.error_message_run.ErrorMessageRunFacet,
        "executionParameters": f.execution_parameters_run.ExecutionParametersRunFacet,
        "externalQuery": f.external_query_run.ExternalQueryRunFacet,
        "extractionError": f.extraction_error_run.ExtractionErrorRunFacet,
        "jobDependencies": f.job_dependencies_run.JobDependenciesRunFacet,
        "nominalTime": f.nominal_time_run.NominalTimeRunFacet,
        "parent": f.parent_run.ParentRunFacet,
        "processing_engine": f.processing_engine_run.ProcessingEngineRunFacet,
        "tags": f.tags_run.TagsRunFacet,
        "test": f.test_run.TestRunFacet,
    },
    JOB: {
        "documentation": f.documentation_job.DocumentationJobFacet,
        "jobType": f.job_type_job.JobTypeJobFacet,
        "lineage": f.lineage.LineageJobFacet,
        "ownership": f.ownership_job.OwnershipJobFacet,
        "sourceCode": f.source_code_job.SourceCodeJobFacet,
        "sourceCodeLocation": f.source_code_location_job.SourceCodeLocationJobFacet,
        "sql": f.sql_job.SQLJobFacet,
        "tags": f.tags_job.TagsJobFacet,
    },
    DATASET: {
        "catalog": f.catalog_dataset.CatalogDatasetFacet,
        "columnLineage": f.column_lineage_dataset.ColumnLineageDatasetFacet,
        "dataQualityMetrics": f.data_quality_metrics_dataset.DataQualityMetricsDatasetFacet,
        "dataSource": f.datasource_dataset.DatasourceDatasetFacet,
        "datasetType": f.dataset_type_dataset.DatasetTypeDatasetFacet,
        "documentation": f.documentation_dataset.DocumentationDatasetFacet,
        "hierarchy": f.hierarchy_dataset.HierarchyDatasetFacet,
        "lifecycleStateChange": f.lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet,
        "lineage": f.lineage.LineageDatasetFacet,
        "ownership": f.ownership_dataset.OwnershipDatasetFacet,
        "schema": f.schema_dataset.SchemaDatasetFacet,
        "storage": f.storage_dataset.StorageDatasetFacet,
        "symlinks": f.symlinks_dataset.SymlinksDatasetFacet,
        "tags": f.tags_dataset.TagsDatasetFacet,
        "version": f.dataset_version_dataset.DatasetVersionDatasetFacet,
    },
    INPUT: {
        "dataQualityAssertions": f.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
        "dataQualityMetrics": f.data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet,
        "inputStatistics": f.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
        "subset": f.base_subset_dataset.InputSubsetInputDatasetFacet,
    },
    OUTPUT: {
        "outputStatistics": f.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
        "subset": f.base_subset_dataset.OutputSubsetOutputDatasetFacet,
    },
}

REGISTERED = {
    "gcp_composer_job": "GcpComposerJobFacet",
    "gcp_composer_run": "GcpComposerRunFacet",
    "gcp_dataproc": "GcpDataprocRunFacet",
    "gcp_lineage": "GcpLineageJobFacet",
    "icebergCommitReport": "IcebergCommitReportOutputDatasetFacet",
    "icebergScanReport": "IcebergScanReportInputDatasetFacet",
}
"""Facets of the standard's registry, which the client has no classes for, and the names of their schema files."""

UNPREFIXED = frozenset({"checkpoints", "debug", "environment-properties", "spark.exception", "spark.logicalPlan"})
"""Custom facets of OpenLineage's own Spark and Flink integrations that are older than the rule for such keys.

Nobody who runs a job can change them.
"""


class Facet(NamedTuple):
    """A facet in an event: where it hangs, its key, its path, its content."""

    home: str
    key: str
    path: str
    content: object


def facets_of(event: JsonObject) -> Iterator[Facet]:
    """Every facet of an event, whatever its content; what is no object where facets should be has none."""
    for part in (RUN, JOB, DATASET):
        yield from _facets(event.get(part), part, "facets", part)
    for direction, home, extra in (("inputs", INPUT, "inputFacets"), ("outputs", OUTPUT, "outputFacets")):
        datasets = event.get(direction)
        for i, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            path = f"{direction}[{i}]"
            yield from _facets(dataset, DATASET, "facets", path)
            yield from _facets(dataset, home, extra, path)


def _facets(owner: object, home: str, key: str, path: str) -> Iterator[Facet]:
    facets = owner.get(key) if isinstance(owner, dict) else None
    for name, content in (facets if isinstance(facets, dict) else {}).items():
        yield Facet(home, name, f"{path}.{key}.{name}", content)
