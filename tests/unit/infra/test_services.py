# SPDX-License-Identifier: Apache-2.0
"""Definitions of services for a target with different inside and outside addresses."""

import json
import re
from typing import ClassVar

import pytest
import yaml

from infra.catalog import ENDPOINTS, LabSettings, build_lab, left_out
from infra.model import Address, Binary, ClassData, Java, Listener, PublicImage, Python, Topic, components_of
from infra.namespaces import KAFKA_NAMESPACE, SHOP_TOPICS, SQL_ENGINE_PATTERNS, WAREHOUSE_NAMESPACE
from infra.project import PROJECT
from infra.services.connect import worker as connect
from infra.services.properties import render_properties
from infra.targets.declarations import outputs
from infra.toolchain.artifacts import COMPONENTS
from infra.user_files import UserFiles, read_user_files


class FakeSite:
    """Site with different inside and outside addresses, as on Docker."""

    stack = "dev"

    identity = "elsewhere"

    interface = "0.0.0.0"

    client_credentials = "/stack/credentials.env"

    own_host_variable = ""
    tls = False

    executor_pods = None

    external: ClassVar[dict] = {}

    def host(self, service):
        return service

    def listen(self, service, endpoint):
        port = next(known.port for known in ENDPOINTS[service] if known.name == endpoint)
        return Address("0.0.0.0", port)

    def address(self, service, endpoint, seen_from="inside"):
        port = self.listen(service, endpoint).port
        return Address(service, port) if seen_from == "inside" else Address("outside.test", port + 1)

    def listeners(self, service, endpoint):
        inside, outside = self.address(service, endpoint), self.address(service, endpoint, "outside")
        return (
            Listener("NEAR", self.listen(service, endpoint), inside),
            Listener("FAR", Address("0.0.0.0", outside.port), outside),
        )

    def file(self, service, name):
        return f"/etc/{service}/{name}"

    def volume(self, service, name):
        return f"/var/{service}/{name}"

    def scratch(self, service):
        return f"/tmp/{service}"

    def class_path(self, component):
        return f"/opt/{component}/*"

    def component(self, name):
        return f"/opt/{name}"

    def project_file(self, path):
        return f"/opt/project/{path}"

    def built_jar(self, component):
        return f"/opt/{component}/{component}.jar"

    def java(self):
        return "/usr/bin/java"

    def python(self, environment):
        return f"/venvs/{environment}/bin/python"

    def python_packages(self, environment):
        return f"/venvs/{environment}/site-packages"

    def class_data(self, component):
        return ClassData(f"/opt/{component}.jsa", f"/opt/{component}-conf")

    def has(self, component):
        return self.has_marquez

    def __init__(self, has_marquez=False, runs_images=False):
        self.has_marquez = has_marquez
        self.runs_images = runs_images


@pytest.fixture(scope="module")
def lab():
    return build_lab(FakeSite(), LabSettings())


@pytest.fixture(scope="module")
def with_marquez():
    return build_lab(FakeSite(True), LabSettings(marquez=True))


@pytest.fixture(scope="module")
def with_images():
    return build_lab(FakeSite(runs_images=True), LabSettings(marquez=True))


def test_kafka_advertises_an_inside_and_an_outside_listener(lab):
    text = lab.service("kafka").files["broker.properties"]
    assert "\nlisteners=NEAR://0.0.0.0:9092,FAR://0.0.0.0:9093,CONTROLLER://0.0.0.0:9093\n" in text
    assert "advertised.listeners=NEAR://kafka:9092,FAR://outside.test:9093\n" in text
    assert "inter.broker.listener.name=NEAR\n" in text
    assert "protocol.map=NEAR:PLAINTEXT,FAR:PLAINTEXT,CONTROLLER:PLAINTEXT\n" in text
    assert "auto.create.topics.enable=false\n" in text


def test_programs_declare_all_components_that_they_use():
    """Image builds depend on this, including components of programs that a program starts."""
    complete_lab = build_lab(FakeSite(True), LabSettings(), UserFiles(flink=read_user_files(PROJECT).flink))
    needed = {part.name: set(components_of(part.run)) for part in (*complete_lab.services, *complete_lab.tasks)}
    assert needed["connect"] == {"connect", *connect.PLUGINS} - {connect.FILE_CONNECTORS}
    assert needed["iceberg_ingestion"] == {"flink", "flink-sql-lineage"}
    assert needed["supplier_windows"] == {"supplier-windows"}
    assert needed["supplier_stats"] == needed["orders_etl"] == {"spark"}
    assert needed["postgres"] == {"postgres"}
    assert needed["object_store"] == set()
    assert needed["lineage"] == {"page"}
    for part in (*complete_lab.services, *complete_lab.tasks):
        rendered = json.dumps([part.run.args, getattr(part.run, "options", ()), dict(part.env), dict(part.files)])
        assert set(re.findall(r"/opt/([\w-]+)/", rendered)) - {"project"} <= needed[part.name], part.name


@pytest.mark.parametrize(
    ("run", "components"),
    [
        (Java("kafka", "a.Main", 1, components=("more",)), ("kafka", "more")),
        (Java("marquez", "a.Main", 1, jar="a.jar"), ()),
        (Python("a.b", components=("page",)), ("page",)),
        (Binary("minio"), ()),
        (Binary("initdb", component="postgres"), ("postgres",)),
        (PublicImage("some/image:1", "/run"), ()),
    ],
)
def test_components_of_each_program_type(run, components):
    assert components_of(run) == components


def test_lineage_rules_contain_both_broker_addresses(lab):
    rules = json.loads(lab.service("lineage").files["rules.json"])
    kafka = next(rule for rule in rules["namespaces"] if rule["canonical"] == KAFKA_NAMESPACE)
    assert {"kafka:9092", "outside.test:9093"} <= set(kafka["hosts"])
    (catalog,) = rules["catalogs"]
    aliases = catalog.pop("aliases")
    assert catalog == {"name": "lake", "uri": "http://iceberg_catalog:8181", "warehouse": WAREHOUSE_NAMESPACE}
    assert aliases == [{"patterns": list(SQL_ENGINE_PATTERNS)}]


def test_files_arguments_and_variables_contain_no_secret(lab):
    harmless = ("password_encryption", "shows the password")
    for part in (*lab.services, *lab.tasks):
        shown = f"{part.files} {part.env} {part.run}"
        for word in (*part.secrets, *harmless):
            shown = shown.replace(word, "")
        assert "secret" not in shown.lower(), part.name
        assert "password" not in shown.lower(), part.name


@pytest.mark.parametrize("name", ["with_marquez", "with_images"])
def test_marquez_configuration_refers_to_the_password_by_variable(name, request):
    service = request.getfixturevalue(name).service("marquez")
    assert service.secrets == {"POSTGRES_PASSWORD": "POSTGRES_PASSWORD"}
    assert "password" not in f"{service.env} {service.run}".lower()
    db = yaml.safe_load(service.files["marquez.yml"])["db"]
    assert db["password"] == "${POSTGRES_PASSWORD}"


def test_marquez_is_included_if_enabled_and_available():
    def names(site, **settings):
        made = build_lab(site, LabSettings(**settings))
        return {part.key for part in made.parts} & {"marquez", "database/marquez", "marquez_web"}

    both = {"marquez", "database/marquez"}
    images = FakeSite(runs_images=True)
    assert names(images) == names(images, marquez_jar="/m.jar") == set()
    assert names(images, marquez=True) == {*both, "marquez_web"}
    assert names(images, marquez=True, marquez_jar="/m.jar") == both
    assert names(FakeSite(True)) == set()
    assert names(FakeSite(True), marquez=True) == both
    assert names(FakeSite(), marquez=True, marquez_jar="/m.jar") == both
    assert names(FakeSite(), marquez=True) == set()
    assert names(FakeSite(), marquez_jar="/m.jar") == set()


def test_left_out_service_is_reported_with_its_remedy():
    (line,) = left_out(FakeSite(), LabSettings(marquez=True)).values()
    assert "lineage-lab:marquezJar" in line
    assert "\n" not in line
    assert left_out(FakeSite(True), LabSettings(marquez=True)) == {}
    assert left_out(FakeSite(runs_images=True), LabSettings(marquez=True)) == {}
    assert left_out(FakeSite(), LabSettings()) == {}


def test_lineage_service_forwards_to_marquez_if_included(lab, with_marquez, with_images):
    assert "--forward-to" not in lab.service("lineage").run.args
    for made in (with_marquez, with_images):
        assert made.service("lineage").run.args[-2:] == ("--forward-to", "http://marquez:5002")
        assert made.service("lineage").needs == ()


def test_marquez_image_and_jar_have_equal_options(with_marquez, with_images):
    jar, image = (made.service("marquez") for made in (with_marquez, with_images))
    assert image.env["MARQUEZ_CONFIG"] == jar.run.args[-1] == "/etc/marquez/marquez.yml"
    assert {f"-Xmx{jar.run.heap_mib}m", *jar.run.options} <= set(image.env["JAVA_OPTS"].split())
    assert (image.files, image.needs, image.ready) == (jar.files, jar.needs, jar.ready)


def test_marquez_web_proxies_to_the_api_of_the_same_release(with_images):
    api, web = (with_images.service(name) for name in ("marquez", "marquez_web"))
    assert web.env == {"MARQUEZ_HOST": "marquez", "MARQUEZ_PORT": "5002", "WEB_PORT": "3000"}
    assert web.needs == ("marquez",)
    assert api.run.reference.partition(":")[2] == web.run.reference.partition(":")[2] != ""


def test_lineage_page_links_to_marquez_web_if_included(with_marquez, with_images):
    def links(made):
        return {row["name"]: row.get("ui") for row in json.loads(made.service("lineage").files["lab.json"])["services"]}

    assert links(with_images)["marquez_web"] == "http://outside.test:3001/"
    assert "marquez_web" not in links(with_marquez)


def test_endpoints_have_unique_ports():
    ports = [endpoint.port for endpoints in ENDPOINTS.values() for endpoint in endpoints]
    assert len(set(ports)) == len(ports)


def test_marquez_binds_its_listen_address_and_uses_its_database(with_marquez):
    config = yaml.safe_load(with_marquez.service("marquez").files["marquez.yml"])
    (api,), (admin,) = (config["server"][f"{name}Connectors"] for name in ("application", "admin"))
    assert (api["bindHost"], api["port"], admin["port"]) == ("0.0.0.0", 5002, 5003)
    assert config["db"]["url"] == "jdbc:postgresql://postgres:5432/marquez"
    assert with_marquez.service("marquez").needs == ("database/marquez",)


def settings_in(text):
    return dict(line.split("=", 1) for line in text.splitlines())


def test_connect_worker_binds_and_advertises_its_addresses(lab):
    worker = settings_in(lab.service("connect").files["connect.properties"])
    assert worker["listeners"] == "http://0.0.0.0:8083"
    assert (worker["rest.advertised.host.name"], worker["rest.advertised.port"]) == ("connect", "8083")
    assert worker["bootstrap.servers"] == "kafka:9092"
    assert worker["value.converter.apicurio.registry.url"] == "http://schema_registry:8081/apis/registry/v2"


@pytest.mark.parametrize(("offered", "left_out"), [(True, ()), (False, (connect.FILE_CONNECTORS,))])
def test_connect_worker_plugin_path_lists_every_plugin(offered, left_out):
    settings = LabSettings(connect_file_connectors=offered)
    service = build_lab(FakeSite(), settings, UserFiles()).service("connect")
    worker = settings_in(service.files["connect.properties"])
    assert worker["plugin.path"].split(",") == [f"/opt/{name}" for name in connect.PLUGINS if name not in left_out]
    assert worker["plugin.discovery"] == "service_load"
    assert set(connect.PLUGINS) <= COMPONENTS
    assert set(service.run.components) == set(connect.PLUGINS) - set(left_out)


def test_config_provider_allows_only_the_workers_credentials(lab):
    service = lab.service("connect")
    pattern = settings_in(service.files["connect.properties"])["config.providers.env.param.allowlist.pattern"]
    hidden = {"OPENLINEAGE_TRANSPORT_AUTH_BEARER_TOKEN"}
    assert {name for name in service.secrets if re.fullmatch(pattern, name)} == set(service.secrets) - hidden
    assert not any(re.fullmatch(pattern, name) for name in ("HOME", "PATH", "POSTGRES_PASSWORD2"))
    assert connect.secret("S3_ACCESS_KEY") == "${env:S3_ACCESS_KEY}"
    with pytest.raises(ValueError, match="credential HOME is not available"):
        connect.secret("HOME")


def test_published_url_of_the_schema_registry_is_that_of_its_confluent_api(lab):
    assert outputs(lab, FakeSite())["schema_registry"] == "http://outside.test:8082/apis/ccompat/v7"


def test_catalog_gives_clients_the_published_address_of_the_object_store(lab):
    env = lab.service("iceberg_catalog").env
    assert env["CATALOG_CLIENT_S3_ENDPOINT"] == "http://outside.test:9001"
    assert env["CATALOG_S3_ENDPOINT"] == "http://object_store:9000"


def test_schema_registry_addresses_storage_and_compatibility(lab):
    service = lab.service("schema_registry")
    config = settings_in(service.files["application.properties"])
    assert (config["quarkus.http.host"], config["quarkus.http.port"]) == ("0.0.0.0", "8081")
    assert (config["quarkus.management.host"], config["quarkus.management.port"]) == ("0.0.0.0", "8082")
    assert config["apicurio.datasource.url"] == "jdbc:h2:file:/var/schema_registry/data/registry;WRITE_DELAY=0"
    assert config["apicurio.rules.global.compatibility"] == "BACKWARD"
    assert service.run.runtime == 21


def test_iceberg_catalog_stores_tables_in_postgres(lab):
    service = lab.service("iceberg_catalog")
    assert service.env["CATALOG_JDBC_URI"] == "jdbc:postgresql://postgres:5432/catalog"
    assert service.needs == ("database/catalog",)
    assert service.volumes == ()


def test_base_services_have_no_needs(lab):
    first = {service.name for service in lab.services if not service.needs}
    assert {"kafka", "schema_registry", "postgres", "object_store", "lineage"} <= first


def test_shop_topics_have_unlimited_retention_and_the_etl_needs_its_inputs(lab):
    topics = {topic.name: topic for topic in lab.resources_of(Topic)}
    assert all(topics[name].config["retention.ms"] == "-1" for name in SHOP_TOPICS)
    etl = lab.service("orders_etl")
    assert {"topic/orders", "schema_registry", "iceberg_catalog", "bucket/checkpoints", "lineage"} <= set(etl.needs)


def test_properties_escape_backslashes_and_reject_invalid_keys():
    assert render_properties({"a.b": "C:\\x", "c": True, "d": 3}) == "a.b=C:\\\\x\nc=true\nd=3\n"
    with pytest.raises(ValueError, match="invalid key"):
        render_properties({"a b": "1"})


def test_lineage_service_stores_its_log_in_postgres_if_set():
    made = build_lab(FakeSite(), LabSettings(lineage_store="postgres"))
    service = made.service("lineage")
    options = dict(zip(service.run.args[::2], service.run.args[1::2], strict=False))
    assert options["--store"] == "postgresql://postgres@postgres:5432/lineage"
    assert service.needs == ("database/lineage",)
    assert service.secrets["LINEAGE_STORE_PASSWORD"] == "POSTGRES_PASSWORD"
    assert "LINEAGE_STORE_PASSWORD" not in build_lab(FakeSite(), LabSettings()).service("lineage").secrets
