# SPDX-License-Identifier: Apache-2.0
"""Composition of the lab's images, derived from what each part runs.

Images build on each other (`images/README.md` shows the hierarchy), so that runtimes, virtual environments and
Flink's half gigabyte of jars are stored once. An image's tag is a hash of its inputs: the reference of a part's image
is computed without a daemon.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from infra.model import Binary, Java, PublicImage, Python, Run, Service, Task
from infra.targets.docker.images.contents import Content, Contents
from infra.toolchain import class_data
from infra.toolchain.cache import hash_key

FOLDER = Path(__file__).resolve().parents[4] / "images"
"""Folder of the Dockerfiles."""

DEBIAN_JAVA = 17
"""Java release of the `jvm` image, a package of Debian 12."""

STARTED_FROM = {"flink": "kit", "spark": "spark"}
"""Virtual environment that starts a component; the component's image is built on the environment's image."""

REPOSITORY = "lineage-lab"
DEFAULT_BASE = "debian:bookworm-slim"


@dataclass(frozen=True)
class Image:
    """An image of the lab.

    Attributes:
        name: name below `lineage-lab/`.
        recipe: name of its Dockerfile without the extension.
        base: the image below it, as a reference if the lab does not build it.
        contents: files and folders that are copied into it.
        environment: the virtual environment that is installed in it; empty for none.
    """

    name: str
    recipe: str
    base: "Image | str"
    contents: tuple[Content, ...] = ()
    environment: str = ""

    @property
    def dockerfile(self) -> Path:
        """Path of the Dockerfile."""
        return FOLDER / f"{self.recipe}.Dockerfile"

    @property
    def base_reference(self) -> str:
        """Reference of the base image, the build argument `BASE_IMAGE`."""
        return self.base if isinstance(self.base, str) else self.base.reference

    @property
    def arguments(self) -> Mapping[str, str]:
        """Build arguments."""
        environment = {"ENVIRONMENT": self.environment} if self.environment else {}
        return {"BASE_IMAGE": self.base_reference, **environment}

    @cached_property
    def key(self) -> str:
        """Short hash of the Dockerfile, the build arguments and the contents."""
        arguments = (text for name, value in sorted(self.arguments.items()) for text in (name, value))
        contents = (text for content in self.contents for text in (content.destination, content.key))
        return hash_key(self.dockerfile.read_bytes(), *arguments, *contents)

    @property
    def reference(self) -> str:
        """`lineage-lab/<name>:<key>`."""
        return f"{REPOSITORY}/{self.name}:{self.key}"

    def chain(self) -> "Iterator[Image]":
        """Yield the lab's images below it, each after its base, and the image itself."""
        if isinstance(self.base, Image):
            yield from self.base.chain()
        yield self


@dataclass(frozen=True)
class Recipes:
    """Composes the images of parts.

    Attributes:
        contents: files that images can contain.
        base: reference of the base image of all images.
    """

    contents: Contents
    base: str = DEFAULT_BASE
    _images: dict[tuple[str, Run], Image] = field(default_factory=dict, compare=False)

    def image_for(self, part: Service | Task) -> Image:
        """Return the image that a part runs on.

        Raises:
            ValueError: the part runs on a public image, which is not built.
        """
        key = (part.name, part.run)
        if key not in self._images:
            self._images[key] = self._compose(part)
        return self._images[key]

    def _compose(self, part: Service | Task) -> Image:
        match part.run:
            case Java():
                return self._java_image(part.run)
            case Binary():
                return self._binary_image(part.run)
            case Python():
                return self._python_image(part.name, part.run)
            case PublicImage():
                raise ValueError(f"{part.name} is the public image {part.run.reference}, which is not built")

    @cached_property
    def _native_image(self) -> Image:
        return Image("native", "native", self.base, (self.contents.probe(),))

    @cached_property
    def _jvm_image(self) -> Image:
        return Image("jvm", "jvm", self._native_image)

    def _binary_image(self, run: Binary) -> Image:
        content = self.contents.component(run.component) if run.component else self.contents.program(run.name)
        return Image(run.component or run.name, "service", self._native_image, (content,))

    @cached_property
    def _interpreter_image(self) -> Image:
        return Image("python", "python", self._jvm_image)

    def _environment_image(self, name: str) -> Image:
        return Image(f"python-{name}", "environment", self._interpreter_image, (self.contents.wheels(name),), name)

    def _with_packages(self, image: Image, environments: Iterable[str]) -> Image:
        """Return an image with further virtual environments."""
        for environment in environments:
            wheels = self.contents.wheels(environment)
            image = Image(f"{image.name}-{environment}", "environment", image, (wheels,), environment)
        return image

    def _java_image(self, run: Java) -> Image:
        """Return the image of a Java program; a Java release other than Debian's is copied into it."""
        runtime = (self.contents.java(run.runtime),) if run.runtime != DEBIAN_JAVA else ()
        own = self.contents.user_jar(run.jar) if run.jar else self.contents.component(run.component)
        others = tuple(self.contents.component(name) for name in run.components)
        base = self._native_image if runtime else self._component_base(run.component)
        image = Image(run.component, "service", base, (*runtime, own, *others, *self.contents.files(run.reads)))
        return self._with_packages(image, run.packages)

    def _component_base(self, component: str) -> Image:
        """Return the image below a component's jars: of the environment that starts the component, else of the JVM."""
        environment = STARTED_FROM.get(component)
        return self._environment_image(environment) if environment else self._jvm_image

    def _python_image(self, name: str, run: Python) -> Image:
        """Return the image of a Python program; if it starts Java, it is built on the image of its first component."""
        base, components = self._environment_image(run.environment), run.components
        if run.java:
            base, components = self._component_image(components[0], base), components[1:]
        base = self._with_packages(base, run.packages)
        folders = tuple(self.contents.component(component) for component in components)
        sources = self.contents.sources(run.module, run.uses, run.reads)
        return Image(image_name(name), "service", base, (*folders, *sources))

    def _component_image(self, component: str, environment: Image) -> Image:
        jars = Image(component, "service", environment, (self.contents.component(component),))
        if component != class_data.COMPONENT:
            return jars
        return Image(f"{component}-{class_data.NAME}", class_data.NAME, jars, self.contents.training())


def image_name(part: str) -> str:
    """Return a part's name as a valid image name: lower case, with single hyphens."""
    return "-".join(word for word in part.lower().replace("_", "-").replace(".", "-").split("-") if word)
