"""What Inspect finds in this package: its entry point imports this module."""

from .scorer import swe_ci_scorer
from .selection import Selections
from .solver import run_on_server
from .task import swe_ci

__all__ = ["Selections", "run_on_server", "swe_ci", "swe_ci_scorer"]
