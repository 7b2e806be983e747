"""Larder as the backend of integration tests."""
from .controls import Controls, Session
from .errors import Refused, StartError, Unverified
from .events import Event, Events
from .http import Response
from .journal import Request
from .server import Larder, Space
from .upstream import Rule, Upstream

__all__ = [
    "Controls", "Event", "Events", "Larder", "Refused", "Request", "Response", "Rule", "Session", "Space", "StartError",
    "Unverified", "Upstream",
]
