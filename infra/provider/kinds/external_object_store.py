# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ExternalObjectStore`: an existing S3 object store that accepts the user's keys."""

from botocore.exceptions import BotoCoreError, ClientError

from infra.model import external_settings
from infra.model.external import ExternalObjectStore
from infra.provider.external_service import ExternalKind, LoginRefused, external_error
from infra.provider.kind import OperationContext
from infra.provider.object_store import GIVE_KEYS, LOGIN_CODES, error_code, s3_client

ACCESS_DENIED = "AccessDenied"
"""Code for keys that are valid but may not list the buckets, which the lab does not need."""


class ExternalObjectStoreKind(ExternalKind[ExternalObjectStore]):
    """Existing object stores."""

    name = "ExternalObjectStore"
    inputs = ExternalObjectStore

    def check(self, inputs: ExternalObjectStore, call: OperationContext) -> None:
        action = f"use the object store at {inputs.endpoint}"
        try:
            s3_client(inputs.endpoint, inputs.credentials).list_buckets()
        except ClientError as error:
            if error_code(error) == ACCESS_DENIED:
                return
            if error_code(error) in LOGIN_CODES:
                raise external_error(
                    external_settings.OBJECT_STORE, action, str(error), GIVE_KEYS, LoginRefused
                ) from error
            raise external_error(external_settings.OBJECT_STORE, action, str(error)) from error
        except BotoCoreError as error:
            raise external_error(external_settings.OBJECT_STORE, action, str(error)) from error
