# SPDX-License-Identifier: Apache-2.0
# Programs of a service, on its runtime, in two layers: pinned files, which are large and rarely change, and files built
# from the checkout.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY pinned/ /opt/lineage-lab/
COPY built/ /opt/lineage-lab/
