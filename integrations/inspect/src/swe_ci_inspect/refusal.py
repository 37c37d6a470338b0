"""What keeps an evaluation from its start."""

import click


class Refusal(click.ClickException):
    """Something to mend first: `inspect eval`, a program of click, shows its message
    without a traceback."""


class WrongParameter(Refusal, ValueError):
    """A parameter of the task, or what it names, is wrong."""
