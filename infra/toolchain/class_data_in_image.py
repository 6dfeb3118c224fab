# SPDX-License-Identifier: Apache-2.0
"""Create the class data archive of Spark's drivers during an image build: `python -m ... PROGRAMS`.

`PROGRAMS` is the folder of an image's programs. The archive is valid for this image: its JDK, its paths and the
modification times of its jars.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.toolchain import class_data
from infra.toolchain.cache import Cache
from infra.toolchain.process import Runner


def main(programs: Path) -> None:
    """Create the archive. Raises ArtifactError, which the output of the build shows."""
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
