# SPDX-License-Identifier: Apache-2.0
"""Files in which users declare the column lineage of Flink jobs (`lineagelab_flink.declared_columns`)."""

import json

from infra.user_files import UserFileError


def check_columns(path: str, text: str) -> None:
    """Check the form of declared lineage; the launcher checks and logs the rest, while the job runs on.

    Args:
        path: of the file in the checkout.
        text: its content; empty for no declaration.

    Raises:
        UserFileError: the content is invalid.
    """
    if not text:
        return
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserFileError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict) or content.keys() != {"inputs", "outputs"}:
        raise UserFileError(f"{path} must be a JSON object of `inputs` and `outputs`")
