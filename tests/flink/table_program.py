# SPDX-License-Identifier: Apache-2.0
"""Jars of programs that a test has as source text."""

import subprocess

from infra.services.flink.settings import COMPONENT
from infra.toolchain import Artifacts


def jar_of(source, folder):
    """Compile the class `Program` to a jar in a folder; return its path."""
    file, classes, jar = folder / "Program.java", folder / "classes", folder / "program.jar"
    file.write_text(source)
    libraries = Artifacts.open().component(COMPONENT) / "lib" / "*"
    packed = ("jar", "--create", "--file", str(jar), "--main-class", "Program", "-C", str(classes), ".")
    for command in (("javac", "-cp", str(libraries), "-d", str(classes), str(file)), packed):
        subprocess.run(command, check=True)
    return jar
