# SPDX-License-Identifier: Apache-2.0
"""Pinned JSON schemas of the OpenLineage standard: core 2-0-2 and its facets, as of 2026-08-20."""

PUBLISHED = "https://openlineage.io/spec"
"""Published address: the core schema is at `VERSION/NAME.json` below it, facets are at `facets/VERSION/NAME.json`."""

_CORE = {
    "2-0-2/OpenLineage": "69f68bee00b9beac88a87059c0102410e7bb05f3f43c46d02a0409831eceb0d2",
}
_FACETS = {
    "1-0-0/BaseSubsetDatasetFacet": "5f270e440b586beae7c4b31bef495dda940cd0f2830e10b442e9f8f6855b11c1",
    "1-1-0/CatalogDatasetFacet": "a73ea70a0d23081fdf99b641dbbee1b34fdb1e5d46492b90ede43c61bdb0a4e4",
    "1-2-0/ColumnLineageDatasetFacet": "04d96b4985ca32470c7f9d73163da76678fb160bc8d80cbbc5abf312e9537466",
    "1-1-0/DataQualityAssertionsDatasetFacet": "65c785790728ccf3f1fe326a0a064a91934b242807a015c2c3e99bde913abc56",
    "1-0-0/DataQualityMetricsDatasetFacet": "0e2025096eb5317605a5d9dcd97d1d9d607e1af6d100e305de6299c88be8170a",
    "1-0-3/DataQualityMetricsInputDatasetFacet": "6218d4b24ccbbf4bcac0768caa8edf86786a00a104d2c13c5bc2713ce41d2633",
    "1-0-1/DatasetTypeDatasetFacet": "1a7d5106877151d52c4d3967f77b92788ea42ebf9843c6573d776a63c9a7d157",
    "1-0-1/DatasetVersionDatasetFacet": "91f57b67bc6d639bb6d600e26b827dac551e3520a233d1785d65870da263dc34",
    "1-0-1/DatasourceDatasetFacet": "f18db2745c1cc96ae49a52a8cbc30dd45a88446e73b4cf96def9faa5166cbfeb",
    "1-1-0/DocumentationDatasetFacet": "bad5c041d679e73b2faea43506860428f48d80710ad1354a2d2393475143285f",
    "1-1-0/DocumentationJobFacet": "b5823685c20c712d9ee1e3b310ad6ca426be7b46db60acd9f23248811af3c8d4",
    "1-0-0/EnvironmentVariablesRunFacet": "ff037f62d1dc99eea5a63ac17934938aeca10130c7e56b86d0735b2c1a8159da",
    "1-0-1/ErrorMessageRunFacet": "b11b4ee8b0f99f6846264f87cad48390255c7ef142ce623216660c7097be0ea6",
    "1-0-0/ExecutionParametersRunFacet": "6e24e4869116c2a2e4cb56ae8cd7702f4dce1609e87c3e83b196b985f46c5717",
    "1-0-2/ExternalQueryRunFacet": "b7d617295ad05c3b23356c1b5b0b4beee87d72d941eb1388d28c1ae9a878b72c",
    "1-1-2/ExtractionErrorRunFacet": "370387f394092cbeb2666fbc95e109a1ddd3b51a7d3d5c12ebd84e5218d6499c",
    "1-0-0/GcpComposerJobFacet": "48b233d1d96b468948cebff15d27a12cc815494ec7851c928cbdd973331903c8",
    "1-0-0/GcpComposerRunFacet": "b783c39815b9915ada33b028581e6577512a2cf96e1054082628aceb0f8abcb6",
    "1-0-0/GcpDataprocRunFacet": "b4fbe56c9b856b4d9eacb5502e7b2b5cc1c0da44a059bcfac7b83cd508f45a83",
    "1-0-0/GcpLineageJobFacet": "6da7aef9b16749d12fb15729b4bbbd813ea47c7370ca6892e7750dc150c39cca",
    "1-0-0/HierarchyDatasetFacet": "6e64b75c50bf1c482744a06c59baeb7510fe29f4a95e24c19eceaf93a776732f",
    "1-0-2/IcebergCommitReportOutputDatasetFacet": "4f350b34df301925cd00b1dd104d1f8e1ee3d12a7955b1fa603f0b7b5e6dfb71",
    "1-0-1/IcebergScanReportInputDatasetFacet": "bdd239a151e4ba745560762c9ed29e2f0e22ac3289a38f1addfe016e2b9a817a",
    "1-0-0/InputStatisticsInputDatasetFacet": "39229ddd334bea16e35942e01cd59b7acb178d50688d4227894e01f39da8a669",
    "1-0-1/JobDependenciesRunFacet": "118c219be36ce4c332befaa52eeb76083eefe8dd5d2c51b3554accbf32e8341e",
    "2-0-4/JobTypeJobFacet": "11c12cab95a411ca31066c80d2bb4aefd37bbcadbda5e4d343d2069853b907d5",
    "1-0-1/LifecycleStateChangeDatasetFacet": "0a30120210b453b797685c4d25c6d1a944204acadfb3e038b4ff8d0736b227a0",
    "1-0-0/LineageFacet": "a60708365707faaa3d430f0f1465991abda3ed0dfd562d8eb614d38a603acf13",
    "1-0-1/NominalTimeRunFacet": "d9520e5731c7d1d25e1372730859b4efc986a9d4bd2315fe63c946957fe343b6",
    "1-0-2/OutputStatisticsOutputDatasetFacet": "d89f01440d08e10bb6e4a95c437f736e70034058f97d4955a35e1cda70c9d37e",
    "1-0-1/OwnershipDatasetFacet": "9a18a508746627eff18fa84ca1694e1a9f2d556ac0052dbdb6970d8a35f75231",
    "1-0-1/OwnershipJobFacet": "c54ae771b1183efbe007a778eb5bf05e9e3f39f3d48f22a4beceea00950abdad",
    "1-2-0/ParentRunFacet": "efdd06ef87537849f1ec7984cc2e36cbdcea40083635c20fd9af1934ba601d57",
    "1-1-1/ProcessingEngineRunFacet": "7cc28d9996802685f484dcd5d4be48517f5a23a4c9ab00837e9936b769f68e10",
    "1-1-0/SQLJobFacet": "674e44564cd48134f19ba202fbd48c09185d4d49e209bc5a5b11e63e9ac91a60",
    "1-2-0/SchemaDatasetFacet": "50236a779aa64baa0bad0055391838bd22fcb36ce667c41d60ada80915e899b6",
    "1-0-1/SourceCodeJobFacet": "e54592aadd32e740b659fb59de59120b43e4a8bde13a0ff7099ccef3c0db48e6",
    "1-1-0/SourceCodeLocationJobFacet": "9fa4e9c251613ea4218f22aef0be914dfcd19da55b4ed7210480ba60362073b6",
    "1-0-1/StorageDatasetFacet": "88b253a379af2a73db7f38e871e3c89c8d68a9bfde80509df6f1eb17a4db5e8f",
    "1-0-1/SymlinksDatasetFacet": "228a565040d359e72dff295373ea2b628684a395075c0bc55b93a2a08acfde34",
    "1-0-0/TagsDatasetFacet": "840617fcc8f08bae8a633450dfe36d8518aa5a8fac4749b673c4bd5c2141fb33",
    "1-0-0/TagsJobFacet": "c159da4159be61b2c38ab1a2c41f6db24543a3902e231fadb25dc7838a7e9b3f",
    "1-0-0/TagsRunFacet": "87c2bce2b8325c3788416ed99f98171e35c4f1a692be878c73e65fa7915ca2fb",
    "1-0-1/TestRunFacet": "7f3bc75dcd91da63d0abc7dbcf94fe79195bc42808632db9322ef66c5a638c6b",
}
"""SHA-256 by version and name."""

PINS = {
    f"{path.rpartition('/')[2]}.json": (f"{base}/{path}.json", sha256)
    for base, hashes in ((PUBLISHED, _CORE), (f"{PUBLISHED}/facets", _FACETS))
    for path, sha256 in hashes.items()
}
"""URL and SHA-256 of each schema by file name."""
