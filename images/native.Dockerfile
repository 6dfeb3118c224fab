# SPDX-License-Identifier: Apache-2.0
# What every image of the lab begins with: the user that services run as, the folders that they write to, and the
# probe that health checks run. Enough for programs that bring all that they need.
#
# All files here keep to the classic dialect, which daemons old and new build without a registry at hand.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}
USER root
COPY pinned/ /opt/lineage-lab/
COPY built/ /opt/lineage-lab/
RUN (getent passwd 10001 || { groupadd --gid 10001 lab && useradd --uid 10001 --gid 10001 --no-create-home \
      --home-dir /var/lib/lineage-lab/scratch lab; }) >/dev/null \
 && mkdir -p /var/lib/lineage-lab/volumes /var/lib/lineage-lab/scratch /var/lib/lineage-lab/files \
      /opt/lineage-lab/class-data/spark/conf /run/lineage-lab \
 && chown -R 10001:10001 /var/lib/lineage-lab
WORKDIR /var/lib/lineage-lab
USER 10001:10001
