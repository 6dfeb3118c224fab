# SPDX-License-Identifier: Apache-2.0
"""What the lab's images are made of: chains of images as data, from what a part of the lab runs.

Each image is built on another (`images/README.md` shows the family), so that a runtime, a virtual environment and
Flink's half gigabyte of jars are on disk once. An image's key is a hash of all that goes into it: the reference of
a part's image is known without a daemon, and changes when the image has to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from infra.model import Binary, Java, PublicImage, Python, Run, Service, Task
from infra.targets.docker.images.contents import Content, Contents
from infra.toolchain import class_data
from infra.toolchain.cache import hash_key

FOLDER = Path(__file__).resolve().parents[4] / "images"
"""Where the Dockerfiles are."""

DEBIAN_JAVA = 17

STARTED_FROM = {"flink": "kit", "spark": "spark"}
"""Components whose programs Python starts, and its environment: both are laid upon another, to be on disk once."""

REPOSITORY = "lineage-lab"
DEFAULT_BASE = "debian:bookworm-slim"


@dataclass(frozen=True)
class Image:
    """One image.

    Attributes:
        name: what it is called below `lineage-lab/`.
        recipe: name of its Dockerfile, without the ending.
        base: the image that it is built on; the text is the reference of one that is not the lab's.
        contents: what is copied into it.
        environment: the virtual environment that is installed in it; empty for none.
    """

    name: str
    recipe: str
    base: "Image | str"
    contents: tuple[Content, ...] = ()
    environment: str = ""

    @property
    def dockerfile(self) -> Path:
        """Where its recipe is."""
        return FOLDER / f"{self.recipe}.Dockerfile"

    @property
    def base_reference(self) -> str:
        """What its recipe gets as `BASE_IMAGE`."""
        return self.base if isinstance(self.base, str) else self.base.reference

    @property
    def arguments(self) -> Mapping[str, str]:
        """The build's arguments."""
        chosen = {"ENVIRONMENT": self.environment} if self.environment else {}
        return {"BASE_IMAGE": self.base_reference, **chosen}

    @cached_property
    def key(self) -> str:
        """A short hash of the recipe, of its arguments and of all that is copied in."""
        arguments = (text for name, value in sorted(self.arguments.items()) for text in (name, value))
        contents = (text for content in self.contents for text in (content.place, content.key))
        return hash_key(self.dockerfile.read_bytes(), *arguments, *contents)

    @property
    def reference(self) -> str:
        """`lineage-lab/<name>:<key>`."""
        return f"{REPOSITORY}/{self.name}:{self.key}"

    def chain(self) -> "Iterator[Image]":
        """The lab's images that it is built on, each after its own base, and itself."""
        if isinstance(self.base, Image):
            yield from self.base.chain()
        yield self


@dataclass(frozen=True)
class Recipes:
    """Composes images.

    Attributes:
        contents: what can be copied into one.
        base: reference of the image that all are built on.
    """

    contents: Contents
    base: str = DEFAULT_BASE
    _made: dict[tuple[str, Run], Image] = field(default_factory=dict, compare=False)

    def image_for(self, part: Service | Task) -> Image:
        """The image that a part runs on.

        Raises:
            ValueError: it is a public one, which nobody builds here.
        """
        asked = (part.name, part.run)
        if asked not in self._made:
            self._made[asked] = self._compose(part)
        return self._made[asked]

    def _compose(self, part: Service | Task) -> Image:
        match part.run:
            case Java():
                return self._java(part.run)
            case Binary():
                return self._binary(part.run)
            case Python():
                return self._python(part.name, part.run)
            case PublicImage():
                raise ValueError(f"{part.name} is the public image {part.run.reference}: there is nothing to build")

    @cached_property
    def _native(self) -> Image:
        return Image("native", "native", self.base, (self.contents.probe(),))

    @cached_property
    def _jvm(self) -> Image:
        return Image("jvm", "jvm", self._native)

    def _binary(self, run: Binary) -> Image:
        content = self.contents.component(run.component) if run.component else self.contents.program(run.name)
        return Image(run.component or run.name, "service", self._native, (content,))

    @cached_property
    def _interpreter(self) -> Image:
        return Image("python", "python", self._jvm)

    def _environment(self, name: str) -> Image:
        return Image(f"python-{name}", "environment", self._interpreter, (self.contents.wheels(name),), name)

    def _java(self, run: Java) -> Image:
        """A release of Java that Debian has not comes with the kit."""
        brought = (self.contents.java(run.runtime),) if run.runtime != DEBIAN_JAVA else ()
        own = self.contents.user_jar(run.jar) if run.jar else self.contents.component(run.component)
        others = tuple(self.contents.component(name) for name in run.components)
        base = self._native if brought else self._below(run.component)
        return Image(run.component, "service", base, (*brought, own, *others))

    def _below(self, component: str) -> Image:
        """What a component's jars are laid upon: the environment of the Python that starts them, too, if any does."""
        environment = STARTED_FROM.get(component)
        return self._environment(environment) if environment else self._jvm

    def _python(self, name: str, run: Python) -> Image:
        """What starts Java programs is built on the image of the first component that it starts them from."""
        base, beside = self._environment(run.environment), run.components
        if run.java:
            base, beside = self._started(beside[0], base), beside[1:]
        components = tuple(self.contents.component(component) for component in beside)
        sources = self.contents.sources(run.module, run.uses, run.reads)
        return Image(image_name(name), "service", base, (*components, *sources))

    def _started(self, component: str, environment: Image) -> Image:
        jars = Image(component, "service", environment, (self.contents.component(component),))
        if component != class_data.COMPONENT:
            return jars
        return Image(f"{component}-{class_data.NAME}", class_data.NAME, jars, self.contents.training())


def image_name(part: str) -> str:
    """A part's name as Docker wants names of images: lower case, and no two marks beside each other."""
    return "-".join(word for word in part.lower().replace("_", "-").replace(".", "-").split("-") if word)
