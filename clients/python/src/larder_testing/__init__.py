"""Larder as the backend of integration tests."""
from .controls import Controls, Rule, Session, Upstream
from .errors import Refused, StartError, Unverified
from .events import Event, Events
from .http import Request, Response
from .server import Larder, Space

__all__ = [
    "Controls", "Event", "Events", "Larder", "Refused", "Request", "Response", "Rule", "Session", "Space", "StartError",
    "Unverified", "Upstream",
]
