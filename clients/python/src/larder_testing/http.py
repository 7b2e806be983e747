"""Requests, without a library."""
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
    values = {name: _spelling(value) for name, value in (query or {}).items() if value is not None}
    return urlsplit(base).path.rstrip("/") + path + (f"?{urlencode(values)}" if values else "")


def _spelling(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
