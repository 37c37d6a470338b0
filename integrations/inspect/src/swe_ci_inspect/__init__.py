"""SWE-CI as a task of Inspect: a swe-ci server carries out the run."""

from .scorer import swe_ci_scorer
from .server import Server, ServerError
from .solver import run_on_server
from .task import swe_ci

__all__ = ["Server", "ServerError", "run_on_server", "swe_ci", "swe_ci_scorer"]
