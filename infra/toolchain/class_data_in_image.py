# SPDX-License-Identifier: Apache-2.0
"""Makes the archive of Spark's classes inside the build of an image: `python -m ... PROGRAMS`.

`PROGRAMS` is the folder that holds an image's programs. The archive fits the image alone: its JDK, its paths and the
times of its jars, all of which are the same wherever the image is brought.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.toolchain import class_data
from infra.toolchain.cache import Cache
from infra.toolchain.process import Runner


def main(programs: Path) -> None:
    """Raises ArtifactError, of which the build's output shows the end."""
    training = class_data.TrainingRun(
        jars=programs / "components" / class_data.COMPONENT / "lib",
        python=Path(sys.executable),
        java=programs / "java" / "17" / "bin" / "java",
    )
    with TemporaryDirectory() as scratch:
        cache = Cache.open(Path(scratch))
        folder = programs / class_data.NAME / class_data.COMPONENT
        class_data.create_archive(folder, "of this image", training, cache, Runner(cache.tmp), print)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
