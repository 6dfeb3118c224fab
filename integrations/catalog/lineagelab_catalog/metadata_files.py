# SPDX-License-Identifier: Apache-2.0
"""File access of a REST catalog's client: the catalog writes the metadata of a change, the client deletes old ones.

It deletes them because of the table property `write.metadata.delete-after-commit.enabled`.
"""

from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import boto3
from pyiceberg.io import FileIO, InputFile, OutputFile

_S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})


class MetadataFiles(FileIO):
    """Files on S3, which are only deleted; credentials are those of the catalog's configuration, else boto3's own."""

    def new_input(self, location: str) -> InputFile:
        """Refuse."""
        raise NotImplementedError(f"{location} is not read: this program reads no files of tables")

    def new_output(self, location: str) -> OutputFile:
        """Refuse."""
        raise NotImplementedError(f"{location} is not written: this program writes no files of tables")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete an object.

        Raises:
            ValueError: the location is not on S3. PyIceberg shows it as a warning, and the commit stays.
        """
        text = location if isinstance(location, str) else location.location
        parts = urlsplit(text)
        if parts.scheme not in _S3_SCHEMES:
            raise ValueError(f"{text} is not on S3; delete it with the maintenance of the table")
        self._client.delete_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"))

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401
        found = self.properties
        return boto3.client(
            "s3",
            endpoint_url=found.get("s3.endpoint"),
            aws_access_key_id=found.get("s3.access-key-id"),
            aws_secret_access_key=found.get("s3.secret-access-key"),
            aws_session_token=found.get("s3.session-token"),
            region_name=found.get("s3.region") or found.get("client.region"),
        )


METADATA_FILES = f"{MetadataFiles.__module__}.{MetadataFiles.__qualname__}"
"""Value of the property `py-io-impl`."""
