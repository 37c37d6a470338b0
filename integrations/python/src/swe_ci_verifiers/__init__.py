"""`swe_ci.verifiers` under a name that `verifiers` takes as the id of a plugin."""

from swe_ci.verifiers import EvolutionEnv, EvolutionTaskset, ReplyHarness

__all__ = ["EvolutionEnv", "EvolutionTaskset", "ReplyHarness"]
