# SPDX-License-Identifier: Apache-2.0
"""Model of a lab: frozen descriptions that do not depend on where they run.

A `Service` runs continuously, a `Task` runs to completion on request; topics, subjects, buckets, databases, tables,
connectors and Flink jobs are resources inside services. A target (`infra.targets`) renders all of them as processes,
containers or pods. Parts refer to each other by `key`: `kafka`, `topic/orders`, `bucket/warehouse`.
"""

from infra.model.external import ExternalKafka as ExternalKafka
from infra.model.external import ExternalObjectStore as ExternalObjectStore
from infra.model.external import ExternalPostgres as ExternalPostgres
from infra.model.external import ExternalSchemaRegistry as ExternalSchemaRegistry
from infra.model.external import ExternalService as ExternalService
from infra.model.external import ProtectedService as ProtectedService
from infra.model.lab import Lab as Lab
from infra.model.lab import Part as Part
from infra.model.resources import AclRule as AclRule
from infra.model.resources import Bucket as Bucket
from infra.model.resources import Column as Column
from infra.model.resources import Connector as Connector
from infra.model.resources import Database as Database
from infra.model.resources import DataResource as DataResource
from infra.model.resources import FlinkJob as FlinkJob
from infra.model.resources import KafkaAcls as KafkaAcls
from infra.model.resources import LaunchedJob as LaunchedJob
from infra.model.resources import Resource as Resource
from infra.model.resources import Subject as Subject
from infra.model.resources import Table as Table
from infra.model.resources import Topic as Topic
from infra.model.service import Binary as Binary
from infra.model.service import Endpoint as Endpoint
from infra.model.service import Java as Java
from infra.model.service import Prepare as Prepare
from infra.model.service import Probe as Probe
from infra.model.service import Program as Program
from infra.model.service import PublicImage as PublicImage
from infra.model.service import Python as Python
from infra.model.service import Run as Run
from infra.model.service import Service as Service
from infra.model.service import Task as Task
from infra.model.service import components_of as components_of
from infra.model.site import Address as Address
from infra.model.site import ClassData as ClassData
from infra.model.site import ExecutorPods as ExecutorPods
from infra.model.site import Listener as Listener
from infra.model.site import Site as Site
