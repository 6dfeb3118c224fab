# SPDX-License-Identifier: Apache-2.0
"""Text snapshots of rendered labs; each fact is in one file.

A process's JVM options and the properties that all containers share have files of their own. A variant of a
service (Docker, with Marquez) is stored as a difference from its local form.
"""

import difflib
import re
from collections import defaultdict
from itertools import takewhile

from infra.project import PROJECT
from infra.targets.labels import DEFINITION_LABEL

HASHES = {"revision", "definition"}
"""Properties that are hashes of sources or of other properties."""

LOCAL_PATHS = (
    (r"/project/\.lab/dev/services/\w+/(files|volumes|scratch)\b", lambda m: f"${m[1].upper()}"),
    (r"/project/\.lab/dev/credentials\.env", "$CREDENTIALS"),
    (r"/project/\.lab/dev\b", "$STACK"),
    (r"/cache/(components|venvs|binaries|class-data)\b", lambda m: f"${m[1].upper()}".replace("-", "_")),
    (r"/java-(\d+)\b", r"$JAVA_\1"),
    (r"(?<![\w$])/project\b", "$PROJECT"),
)
DOCKER_PATHS = (
    (r"/var/lib/lineage-lab/(files|volumes)\b", lambda m: f"${m[1].upper()}"),
    (r"(?<![\w/])/tmp\b", "$SCRATCH"),
    (r"/run/lineage-lab/credentials\.env", "$CREDENTIALS"),
    (r"/project/\.lab/dev\b", "$STACK"),
    (r"/opt/lineage-lab/(components|venvs|binaries|class-data)\b", lambda m: f"${m[1].upper()}".replace("-", "_")),
    (r"/opt/lineage-lab/java/(\d+)\b", r"$JAVA_\1"),
    (r"/opt/lineage-lab/project\b", "$PROJECT"),
)
"""Path patterns of each target and their common names; any other path is a difference."""

FILES = "/var/lib/lineage-lab/files/"
JVM_OPTION = r"-X(?!m[xs])\S+"
JVM_OPTIONS = re.compile(rf"{JVM_OPTION}(?:(?: \\\n  | ){JVM_OPTION})*")
HEREDOC = re.compile(r"^cat > (?P<path>\S+) <<'END_OF_FILE'\n(?P<text>.*?)^END_OF_FILE\n", re.MULTILINE | re.DOTALL)


def is_container(resource):
    return resource.kind == "Container"


def part_of(key):
    """Return the name of the service or task that a resource belongs to."""
    return key.removeprefix("container/")


def properties_of(resource):
    """Return (kind, needs and properties as lines, files by name)."""
    properties = {name: value for name, value in resource.inputs.properties().items() if name not in HASHES}
    files = {name: text for name, text in properties.pop("files", {}).items() if text}
    if script := properties.pop("script", None):
        files = {"run": script, **files}
    if is_container(resource) and (command := properties.pop("command", None)):
        *words, script = command
        properties["command"] = words
        files = {match["path"].removeprefix(FILES): match["text"] for match in HEREDOC.finditer(script)}
        files = {"run": HEREDOC.sub(lambda match: f"# writes {match['path']}\n", script), **files}
    lines = [f"kind: {resource.kind}", f"needs: {', '.join(resource.needs)}"]
    for name, value in sorted(properties.items()):
        many = isinstance(value, list) and value and isinstance(value[0], dict)
        kept = [item for item in value if item.get("label") != DEFINITION_LABEL] if many else [value]
        if isinstance(value, dict) and value:
            lines += [f"{name}.{key}: {each}" for key, each in value.items()]
        else:
            lines += [f"{name}: {item}" for item in kept]
    return lines, files


class Snapshots:
    """Collector of snapshot texts of the added labs."""

    def __init__(self):
        self._texts = defaultdict(list)
        self._properties = {}
        self._files = {}
        self._shared = {}
        self._jvm_options = defaultdict(lambda: defaultdict(dict))

    def add(self, title, rendered, like=None):
        """Add a lab.

        Args:
            title: the lab's target and settings.
            rendered: its resources by key.
            like: title of a lab that was added before; only differences from it are kept.
        """
        self._share(title, rendered)
        for key, resource in rendered.items():
            properties, files = self._texts_of(title, like, resource)
            self._properties[title, resource.kind, key], self._files[title, key] = properties, files
            known_properties = self._properties.get((like, resource.kind, key))
            known_files = self._files.get((like, key), self._files.get((like, part_of(key)))) if files else ""
            if (known_properties, known_files) == (properties, files):
                continue
            is_part = resource.kind in {"Process", "Container", "ContainerReady"}
            self._texts[part_of(key) if is_part else "resources"] += [
                f"=== {title}: {key}",
                properties if known_properties is None else difference(known_properties, properties),
                files if known_files is None else difference(known_files, files),
            ]

        missing = [part for known, _, part in self._properties if known == like and not self._has(title, part)]
        self._texts["resources"] += [f"=== {title}: without {part}" for part in missing]

    def _has(self, title, key):
        return any((title, known) in self._files for known in (key, f"container/{key}"))

    def finish(self):
        """Return the text of each snapshot by name."""
        files = {name: join(texts) for name, texts in self._texts.items()}
        every = [line for title, shared in self._shared.items() for line in (f"=== {title}", *sorted(shared))]
        options = []
        for run, uses in self._jvm_options.items():
            named = {use: [title for title, is_new in titles.items() if is_new] for use, titles in uses.items()}
            options += [run, *(f"    {use}: {'; '.join(titles)}" for use, titles in named.items())]
        return files | {"every_container": join(every), "jvm_options": join(options)}

    def _texts_of(self, title, like, resource):
        lines, files = properties_of(resource)
        if is_container(resource):
            lines = [line for line in lines if line not in self._shared[like if like in self._shared else title]]
        content = join(f"--- {name}\n{text.rstrip()}" for name, text in files.items())
        content = self._without_jvm_options(normal(title, content), title, like, part_of(resource.key))
        return normal(title, join(lines)), content

    def _share(self, title, rendered):
        """Move the lines common to all containers to their own snapshot."""
        every = [set(properties_of(resource)[0]) for resource in rendered.values() if is_container(resource)]
        shared = {line for line in set.intersection(*every) if not line.startswith("command")} if every else set()
        if shared and shared not in self._shared.values():
            self._shared[title] = shared

    def _without_jvm_options(self, text, title, like, part):
        number = 0

        def keep_apart(match):
            nonlocal number
            number += 1
            titles = self._jvm_options[re.sub(r" \\\n  ", " ", match[0])][f"{part} {number}"]
            titles[title] = like not in titles
            return "$JVM_OPTIONS"

        return JVM_OPTIONS.sub(keep_apart, text)


def normal(title, text):
    """Replace the paths of a target by names."""
    text = text.replace(str(PROJECT), "/project")
    for pattern, short in LOCAL_PATHS if title.startswith("local") else DOCKER_PATHS:
        text = re.sub(pattern, short, text)
    return text


def join(texts):
    return "".join(f"{text.rstrip()}\n" for text in texts if text.strip())


def difference(before, after):
    """Return the lines that differ, each group with one line of context."""
    found = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    return "".join("@@\n" if line.startswith("@@") else f"{line}\n" for line in found)


def first_difference(before, after):
    """Return a short unified difference, for a failing test's message."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "snapshot", "rendered", lineterm="")
    return "\n".join(line for line, _ in takewhile(lambda pair: pair[1] < 80, zip(lines, range(100), strict=False)))
