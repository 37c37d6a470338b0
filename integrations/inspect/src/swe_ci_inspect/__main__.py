"""`swe-ci-inspect`: writes runs of a server as logs of Inspect."""

from pathlib import Path

import click

from .logs import RunOnServer, write
from .server import Server


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--output", required=True, type=click.Path(path_type=Path), help="The folder.")
@click.option("--server", default="http://127.0.0.1:3000", show_default=True)
@click.option("--gamma", default=1.0, show_default=True, help="Weight of later iterations.")
@click.option(
    "--convention",
    default="paper",
    show_default=True,
    type=click.Choice(["paper", "reference"]),
    help="How tests are counted.",
)
@click.option("--replace", is_flag=True, help="Replace files that are there already.")
def main(
    runs: tuple[str, ...], output: Path, server: str, gamma: float, convention: str, replace: bool
) -> None:
    """Writes each RUN of a server, which must be over, as a log of Inspect.

    The variable SWE_CI_TOKEN holds an API token, for runs that are not public.
    """
    at = Server(server)
    # All are looked at before the first is written.
    found = [RunOnServer(at, run, gamma, convention) for run in dict.fromkeys(runs)]
    for run in found:
        click.echo(write(run, output, replace, lambda note: click.echo(f"note: {note}", err=True)))


if __name__ == "__main__":
    main()
