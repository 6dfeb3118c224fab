-- SPDX-License-Identifier: Apache-2.0
-- Prepended to every job of this folder. Flink's JVMs have the object store's credentials in their environment.

CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-type' = 'rest',
  'uri' = '${ICEBERG_CATALOG_URL}',
  'io-impl' = 'org.apache.iceberg.aws.s3.S3FileIO',
  's3.endpoint' = '${S3_ENDPOINT}',
  's3.path-style-access' = 'true',
  'client.region' = '${AWS_REGION}'
);
