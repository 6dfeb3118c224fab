# SPDX-License-Identifier: Apache-2.0
"""Users of the lab's Kafka with TLS: how the broker knows them, how clients log in, and what each of them may do.

Every client has a password of its own (SASL/PLAIN, over TLS only), and rights to what it needs; the broker refuses and
logs everything else. Without TLS, every function but `protocol_environment` returns nothing.
"""

from collections.abc import Mapping
from dataclasses import replace

from infra import credentials
from infra.model import AclRule, Java, KafkaAcls, Service, Site
from infra.security.kafka_login import ADMIN, MECHANISM, PROTOCOL
from infra.services import tls

CONNECT, FLINK, SPARK, LINEAGE, CLIENT = "connect", "flink", "spark", "lineage", "client"
"""Users of services beside `ADMIN`, and of the user's own clients (`lab.env`)."""

PASSWORDS = {
    ADMIN: credentials.KAFKA_ADMIN_PASSWORD,
    CONNECT: credentials.KAFKA_CONNECT_PASSWORD,
    FLINK: credentials.KAFKA_FLINK_PASSWORD,
    SPARK: credentials.KAFKA_SPARK_PASSWORD,
    LINEAGE: credentials.KAFKA_LINEAGE_PASSWORD,
    CLIENT: credentials.KAFKA_CLIENT_PASSWORD,
}
"""User -> name of the credential."""

PASSWORD_VARIABLE = "KAFKA_PASSWORD"
"""Environment variable of a client with its password."""

LOGIN_FILE = "kafka.jaas"
"""File in the scratch folder of a client with its user and password."""

_SPARK_GROUPS = "spark-kafka-source-"
"""Prefix of the consumer groups that Spark makes."""

_LOGIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_RELOCATED = {FLINK: "org.apache.flink.kafka.shaded."}
"""Package before the name of the login module, where a client has Kafka's classes under other names."""

_READS = ("describe", "describe_configs", "read")
_WRITES = ("describe", "write")
_JOINS = ("delete", "describe", "read")
_CREATES = ("create", "alter_configs")


_ALL_READS = AclRule(resource="topic", name="*", operations=_READS)

_PIPELINE = (
    AclRule(resource="topic", name="*", operations=tuple(sorted({*_READS, *_WRITES}))),
    AclRule(resource="group", name="*", operations=_JOINS),
    AclRule(resource="transactional_id", name="*", operations=_WRITES),
    AclRule(resource="cluster", name="kafka-cluster", operations=("describe", "idempotent_write")),
)
"""Rights of engines that run connectors and jobs of the user: every topic, but no change of rights or of the broker."""


def rules(topic_of_history: str = "") -> Mapping[str, tuple[AclRule, ...]]:
    """Return the rights of each user but `ADMIN`, who has all; `topic_of_history` is what the lineage service writes.

    Connect creates topics: those of its workers, and those of source connectors that ask for it.
    """
    history = (
        AclRule(resource="topic", name=topic_of_history, operations=tuple(sorted({*_READS, *_WRITES}))),
        AclRule(resource="transactional_id", pattern="prefixed", name="lineage", operations=_WRITES),
        AclRule(resource="group", pattern="prefixed", name="lineage", operations=("describe", "read")),
    )
    return {
        CONNECT: (*_PIPELINE, AclRule(resource="topic", name="*", operations=_CREATES)),
        FLINK: _PIPELINE,
        SPARK: (_ALL_READS, AclRule(resource="group", pattern="prefixed", name=_SPARK_GROUPS, operations=_JOINS)),
        CLIENT: (_ALL_READS, AclRule(resource="group", name="*", operations=_JOINS)),
        **({LINEAGE: history} if topic_of_history else {}),
    }


def broker_properties(site: Site, service: str, listeners: tuple[str, ...]) -> dict[str, str | int | bool]:
    """Return the broker's settings of TLS, logins and rights, for all listeners, the controller's too."""
    if not site.tls:
        return {}
    return {
        "listener.security.protocol.map": ",".join(f"{name}:{PROTOCOL}" for name in listeners),
        "sasl.enabled.mechanisms": MECHANISM,
        "sasl.mechanism.inter.broker.protocol": MECHANISM,
        "sasl.mechanism.controller.protocol": MECHANISM,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": tls.chain(site, service),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tls.authority(site)),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN}",
        "allow.everyone.if.no.acl.found": False,
    }


def with_logins(service: Service, site: Site) -> Service:
    """Return the broker with the users that it accepts; it logs in to its own controller as `ADMIN`."""
    if not site.tls:
        return service
    variables = {f"PASSWORD_OF_{user.upper()}": credential for user, credential in PASSWORDS.items()}
    users = [f'  user_{user}="$PASSWORD_OF_{user.upper()}"' for user in PASSWORDS]
    own = [f'  username="{ADMIN}"', f'  password="$PASSWORD_OF_{ADMIN.upper()}"']
    text = "\n".join(["KafkaServer {", f"  {_LOGIN_MODULE} required", *own, *users, "  ;", "};"])
    return _with_login_file(replace(service, secrets={**service.secrets, **variables}), site, text)


def with_login(service: Service, site: Site, user: str) -> Service:
    """Return a Java program whose Kafka clients log in as `user`; their settings are `client_properties`."""
    if not site.tls:
        return service
    secrets = {**service.secrets, PASSWORD_VARIABLE: PASSWORDS[user]}
    return _with_login_file(replace(service, secrets=secrets), site, login_text(user))


def login_text(user: str) -> str:
    """Return the content of the file by which Kafka clients in Java log in."""
    login = f'username="{user}" password="${PASSWORD_VARIABLE}"'
    return f"KafkaClient {{\n  {_RELOCATED.get(user, '')}{_LOGIN_MODULE} required {login};\n}};"


def login_option(path: str) -> str:
    """Return the JVM option that makes all Kafka clients of a program log in as a file says."""
    return f"-Djava.security.auth.login.config={path}"


def _with_login_file(service: Service, site: Site, text: str) -> Service:
    assert isinstance(service.run, Java), "only JVMs read the file"
    path = f"{site.scratch(service.name)}/{LOGIN_FILE}"
    options = (*service.run.options, login_option(path))
    return replace(
        service, run=replace(service.run, options=options), secret_files={**service.secret_files, path: text}
    )


def login_files(program: str, site: Site, user: str) -> dict[str, str]:
    """Return the secret file by which the JVMs that a Python program starts log in, by path; none without TLS.

    They need `login_options`, and the program `login_secrets`.
    """
    return {f"{site.scratch(program)}/{LOGIN_FILE}": login_text(user)} if site.tls else {}


def login_options(program: str, site: Site) -> tuple[str, ...]:
    """Return the JVM options for `login_files`."""
    return (login_option(f"{site.scratch(program)}/{LOGIN_FILE}"),) if site.tls else ()


def login_secrets(site: Site, user: str) -> dict[str, str]:
    """Return the credential that `login_files` needs: variable -> credential."""
    return {PASSWORD_VARIABLE: PASSWORDS[user]} if site.tls else {}


def librdkafka_login(site: Site, user: str) -> str:
    """Return the content of a file of settings by which clients in C and Python log in; `$KAFKA_PASSWORD` is in it."""
    settings = {
        **client_properties(site),
        "sasl.username": user,
        "sasl.password": f"${PASSWORD_VARIABLE}",
        "ssl.ca.location": str(tls.authority(site)),
    }
    return "\n".join(f"{name}={value}" for name, value in settings.items())


def client_properties(site: Site) -> dict[str, str]:
    """Return the settings of Kafka clients in Java beside their address; the JVM has authority and login."""
    return {"security.protocol": PROTOCOL, "sasl.mechanism": MECHANISM} if site.tls else {}


def protocol_environment(site: Site) -> dict[str, str]:
    """Return the variables by which jobs learn how their Kafka clients connect; in a lab without TLS, too."""
    return {
        "KAFKA_SECURITY_PROTOCOL": PROTOCOL if site.tls else "PLAINTEXT",
        "KAFKA_SASL_MECHANISM": MECHANISM,
    }


def acls(site: Site, broker: str, bootstrap: str, cluster: str, history: str = "") -> tuple[KafkaAcls, ...]:
    """Return the rights of all users as resources of the lab, whose Kafka is the service `broker`."""
    path = tls.client_authority(site)
    if path is None:
        return ()
    return tuple(
        KafkaAcls(
            name=user,
            bootstrap=bootstrap,
            cluster=cluster,
            credentials=site.client_credentials,
            authority=path,
            rules=granted,
            needs=(broker,),
        )
        for user, granted in rules(history).items()
    )


def needs(site: Site, user: str) -> tuple[str, ...]:
    """Return the key of the rights of a user, which its clients need."""
    return (f"kafka_acls/{user}",) if site.tls else ()


def client_environment(site: Site) -> dict[str, str]:
    """Return variables of `lab.env` by which the user's own Kafka clients log in, beside their password."""
    path = tls.client_authority(site)
    if path is None:
        return {}
    return {
        "KAFKA_SECURITY_PROTOCOL": PROTOCOL,
        "KAFKA_SASL_MECHANISM": MECHANISM,
        "KAFKA_SASL_USERNAME": CLIENT,
        "KAFKA_SSL_CA_LOCATION": path,
    }
