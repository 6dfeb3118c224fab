# SPDX-License-Identifier: Apache-2.0
# What a service runs, laid upon its runtime. Two layers: what is pinned, which is large and seldom changes, and
# what is built of this checkout.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY pinned/ /opt/lineage-lab/
COPY built/ /opt/lineage-lab/
