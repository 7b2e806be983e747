"""Requests, without a library, and those that a journal has."""
from __future__ import annotations

import http.client
import json as coding
import os
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

PATIENCE_S = 60.0


@dataclass(frozen=True, repr=False)
class Response:
    """A response, whatever its status. Names of header fields are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def __repr__(self) -> str:
        """The beginning: a screen would fill the report of a test that fails."""
        return f"<{self.status} {self.text[:200]}>"

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def json(self) -> Any:
        return coding.loads(self.body)

    @property
    def data(self) -> Any:
        """`data` of a screen."""
        return self.json["data"]

    @property
    def meta(self) -> Any:
        """`meta` of a screen: where its data came from."""
        return self.json["meta"]

    @property
    def code(self) -> str | None:
        """The code of a problem; None for other responses."""
        return self.json.get("code") if self.headers.get("content-type", "").startswith("application/problem") else None

    @property
    def cache(self) -> str:
        """`Cache-Status`."""
        return self.headers.get("cache-status", "")


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
        names = ("sequence", "method", "path", "status", "request_id", "headers", "upstream", "cause", "fault")
        return cls(**{name: entry.get(name) for name in names}, waiting=entry.get("waiting", False), raw=entry)

    def __str__(self) -> str:
        status = "waits" if self.waiting else self.status or "no response"
        cause = f"  because of {self.cause}" if self.cause is not None else ""
        fault = f"  fault {self.fault}" if self.fault and self.fault != "online" else ""
        return f"#{self.sequence} {self.method} {self.path} → {status}{fault}{cause}"


def given(**members: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def combined(faults: tuple[str, ...]) -> str | list[str]:
    """Faults as controls take them; one may be a list in a text."""
    return faults[0] if len(faults) == 1 else list(faults)


def operator() -> dict[str, str]:
    """The field with the key of the test image, whose controls are reached from other machines."""
    key = os.environ.get("LARDER_OPERATOR_KEY")
    return {"Larder-Operator": key} if key else {}


def connect(base: str, timeout: float | None = PATIENCE_S) -> http.client.HTTPConnection:
    """A connection to a server by its URL."""
    url = urlsplit(base)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname or "", url.port, timeout=timeout)


def target(base: str, path: str, query: dict[str, Any] | None = None) -> str:
    """The path of a request, below that of the base."""
    values = {name: str(value).lower() if isinstance(value, bool) else value for name, value in (query or {}).items()}
    return urlsplit(base).path.rstrip("/") + path + (f"?{urlencode(given(**values))}" if values else "")


def send(
    base: str,
    method: str,
    path: str,
    *,
    query: dict[str, Any] | None = None,
    json: Any = None,
    body: bytes | str | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = PATIENCE_S,
) -> Response:
    """Sends one request on a connection of its own, and reads the whole response."""
    fields = dict(headers or {})
    if json is not None:
        body = coding.dumps(json)
        fields.setdefault("Content-Type", "application/json")
    connection = connect(base, timeout)
    try:
        content = body.encode() if isinstance(body, str) else body
        connection.request(method, target(base, path, query), content, fields)
        received = connection.getresponse()
        names = {name.lower(): value for name, value in received.getheaders()}
        return Response(received.status, names, received.read())
    finally:
        connection.close()
