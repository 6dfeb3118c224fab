# SPDX-License-Identifier: Apache-2.0
# Base of every image of the lab: user and writable folders of the services, command of the health checks, and openssl,
# with which that checks services with TLS. Native programs without dependencies run on it directly.
#
# The Dockerfiles do without BuildKit syntax, so that old daemons build them and no frontend image is pulled.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}
USER root
RUN if ! command -v openssl >/dev/null; then \
      apt-get update && apt-get install -y --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*; \
    fi
COPY pinned/ /opt/lineage-lab/
COPY built/ /opt/lineage-lab/
RUN (getent passwd 10001 || { groupadd --gid 10001 lab && useradd --uid 10001 --gid 10001 --no-create-home \
      --home-dir /var/lib/lineage-lab/scratch lab; }) >/dev/null \
 && mkdir -p /var/lib/lineage-lab/volumes /var/lib/lineage-lab/scratch /var/lib/lineage-lab/files \
      /opt/lineage-lab/class-data/spark/conf /run/lineage-lab \
 && chown -R 10001:10001 /var/lib/lineage-lab
WORKDIR /var/lib/lineage-lab
USER 10001:10001
