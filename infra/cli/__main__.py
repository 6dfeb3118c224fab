# SPDX-License-Identifier: Apache-2.0
"""Entry point of the `lab` command: registers all subcommands."""

import typer

from infra.cli import (
    benchmarks,
    chaos,
    export,
    images,
    lifecycle,
    lineage,
    lint,
    query,
    rendering,
    replay,
    services,
    setup,
    testing,
    verification,
)

app = typer.Typer(
    name="lab",
    help="A lab for end-to-end data lineage: Kafka, Spark, Iceberg, one graph, checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for function in (
    setup.setup,
    lifecycle.up,
    lifecycle.down,
    services.status,
    services.logs,
    verification.verify,
    lint.lint,
    services.run,
    query.sql,
    query.profile,
    query.expect,
    services.start,
    services.stop,
    setup.doctor,
    setup.env,
    rendering.render,
    lifecycle.reset,
):
    app.command()(function)
# Unknown options are passed on to pytest.
app.command(name="test", context_settings={"ignore_unknown_options": True})(testing.run_tests)
app.command()(benchmarks.bench)
app.command()(chaos.chaos)
app.add_typer(lineage.app)
app.add_typer(replay.app)
app.add_typer(images.app)
app.add_typer(export.app)

if __name__ == "__main__":
    app(prog_name="lab")
