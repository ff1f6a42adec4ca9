"""What an operator gives to Prometheus and Grafana, as files: `chat monitoring` prints them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

ALERTS: Final = "alerts.yml"
DASHBOARD: Final = "dashboard.json"


def text_of(name: str) -> str:
    """The text of one of the files."""
    return (files(__name__) / name).read_text("utf-8")
