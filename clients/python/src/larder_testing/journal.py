"""Requests that were recorded."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """An entry of a journal."""

    sequence: int
    method: str
    path: str
    """With the query; at an upstream with its prefix."""
    status: int | None
    """None while it waits, or if it got no response."""
    request_id: str | None
    headers: dict[str, str]
    upstream: str | None
    """None for a request to Larder itself."""
    cause: int | str | None
    """At an upstream: the number of the request to Larder that caused it, `probe`, or `refresh`."""
    fault: str | None
    waiting: bool
    raw: dict[str, Any]
    """The whole entry."""

    @classmethod
    def read(cls, entry: dict[str, Any]) -> "Request":
        return cls(
            sequence=entry["sequence"],
            method=entry["method"],
            path=entry["path"],
            status=entry["status"],
            request_id=entry.get("request_id"),
            headers=entry["headers"],
            upstream=entry.get("upstream"),
            cause=entry.get("cause"),
            fault=entry.get("fault"),
            waiting=entry.get("waiting", False),
            raw=entry,
        )
