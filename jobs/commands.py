"""`flask --app app drain`: one pass of the delivery processor from the command line (contract 5)."""

from __future__ import annotations

import signal

import click
from flask import Flask

from jobs import deliveries, stopping


def init_app(app: Flask) -> None:
    """Hang the command on `flask --app app`."""
    app.cli.add_command(drain)


@click.command("drain")
def drain() -> None:
    """Send every delivery that is due, once each, in this process; print how many were sent."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.ask())
    click.echo(deliveries.drain())
