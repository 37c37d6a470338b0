"""A client for the REST API of a swe-ci server.

import swe_ci
swe_ci.Client("https://bench.example.org").leaderboard(split="default").to_pandas()
"""

from importlib.metadata import version

from .client import Client
from .errors import ApiError, MissingExtra, ServerAway, SweCiError
from .table import Table

__all__ = ["ApiError", "Client", "MissingExtra", "ServerAway", "SweCiError", "Table"]

__version__ = version("swe-ci")
