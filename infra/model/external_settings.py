# SPDX-License-Identifier: Apache-2.0
"""Configuration keys with the addresses of existing services, without their namespace."""

KAFKA = "externalKafka"
SCHEMA_REGISTRY = "externalSchemaRegistry"
OBJECT_STORE = "externalS3"
POSTGRES = "externalPostgres"
