"""`chat monitoring`: alerts for Prometheus and a dashboard for Grafana, for the metrics of this version."""

from __future__ import annotations

import click

from chat import monitoring as texts


@click.group()
def monitoring() -> None:
    """What Prometheus and Grafana need to watch an instance."""


@monitoring.command()
def alerts() -> None:
    """Print alert rules for Prometheus.

    They belong into a file that rule_files names.
    """
    click.echo(texts.text_of(texts.ALERTS), nl=False)


@monitoring.command()
def dashboard() -> None:
    """Print a dashboard for Grafana.

    It is imported as JSON, and asks for the data source.
    """
    click.echo(texts.text_of(texts.DASHBOARD), nl=False)


@monitoring.command()
@click.option("--target", default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT", help="Where /metrics is.")
def scrape(target: str) -> None:
    """Print a configuration for Prometheus.

    It scrapes one instance under the name that the alerts expect.
    """
    click.echo(
        f"scrape_configs:\n  - job_name: chat\n    static_configs:\n      - targets: ['{target}']\nrule_files:\n"
        "  - chat-alerts.yml"
    )
