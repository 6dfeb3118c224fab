# SPDX-License-Identifier: Apache-2.0
"""What a target renders, compared with what it rendered before.

Where a difference is meant, write the snapshot anew: UPDATE_SNAPSHOTS=1 bin/lab test tests/unit/infra
"""

import os


def compare(folder, key, text):
    """Of the resource `key`, with the file of that name in `folder`."""
    path = folder / file_name(key)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def file_name(key):
    return f"{key.replace('/', '-')}.txt"
