"""Who acts, and by which rules: what the tools take from settings and environment."""

from ubp.config import acting_agent
from ubp.packs.registry.injection import Thresholds
from ubp.packs.registry.queries import Viewer
from ubp.project import Project

__all__ = ("thresholds_of", "viewer")


def viewer() -> Viewer:
    """The agent in whose name this process acts."""
    agent = acting_agent()
    return Viewer(agent.id, agent.org)


def thresholds_of(project: Project) -> Thresholds:
    settings = project.settings.registry
    return Thresholds(settings.reject_at, settings.suspicious_at)
