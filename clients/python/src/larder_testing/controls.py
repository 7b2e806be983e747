"""A server, or a space of it, as a test drives it."""
from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

from .clock import Clock
from .errors import Refused, Unverified
from .events import Events
from .http import Response, operator, send
from .journal import Request
from .report import report
from .upstream import Upstream


class Requests:
    """Sends requests to the routes of the apps, as the front end does."""

    url: str
    _headers: dict[str, str] = {}
    _pool: ThreadPoolExecutor

    def request(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Response:
        """Sends a request; `query`, `json`, `body` and `timeout` are optional. Every status is a response."""
        return send(self.url, method, path, headers={**self._headers, **(headers or {})}, **options)

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> Response:
        return self.request("POST", path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> Response:
        return self.request("PUT", path, json=json, **options)

    def patch(self, path: str, json: Any = None, **options: Any) -> Response:
        return self.request("PATCH", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> Response:
        return self.request("DELETE", path, **options)

    def begin(self, method: str, path: str, **options: Any) -> "Future[Response]":
        """Sends a request in the background: while it is held, the test goes on."""
        return self._pool.submit(self.request, method, path, **options)

    def events(self, path: str = "/v1/events") -> Events:
        """Listens to events from now on."""
        return Events(self.url, path, self._headers)


class Session(Requests):
    """Requests of one user."""

    def __init__(self, larder: Requests, token: str, data: Any):
        self.url, self._pool = larder.url, larder._pool
        self.token, self.data = token, data
        self._headers = {"Authorization": f"Bearer {token}"}


class Controls(Requests):
    """The controls of one server or space."""

    def __init__(self, url: str, sandbox_url: str):
        self.url = url.rstrip("/")
        self.sandbox_url = sandbox_url.rstrip("/").removesuffix("/_sandbox")
        self.clock = Clock(self)
        self._pool = ThreadPoolExecutor(64, "larder")

    def session(self, app: str, **login: Any) -> Session:
        """Opens a session of an app, such as `session("ships", mode="guest")`."""
        response = self.post(f"/v1/{app}/session", login)
        assert response.status < 300, response.text
        return Session(self, response.data["token"], response.data)

    def user(self, token: str) -> Session:
        """Requests of a user whose session there is already, such as one of `seed`."""
        return Session(self, token, None)

    def control(self, method: str, path: str, *, json: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Calls a control, such as `PUT /_sandbox/catalogue/products/1`. Raises `Refused`."""
        response = send(self.sandbox_url, method, path, json=json, query=query, headers=operator(), timeout=120)
        answer = response.json if response.body else None
        if response.status >= 400:
            raise Refused(f"{method} {path}", response.status, answer)
        return answer

    def reset(self) -> None:
        """Everything as with a new data directory: data, sessions, faults, journals, clock."""
        self.control("POST", "/_harness/reset")

    # Upstreams

    def upstream(self, name: str) -> Upstream:
        return Upstream(self, name)

    @property
    def upstreams(self) -> list[Upstream]:
        return [Upstream(self, one["name"]) for one in self.control("GET", "/_sandbox")["upstreams"]]

    def stub(self, name: str, openapi: Any = None, *, rules: list[Any] | None = None, **files: Any) -> Upstream:
        """Adds an upstream, which Larder mounts at `/v1/upstreams/NAME/` as long as it is there.

        It responds with the examples of an OpenAPI document and refuses what does not fit it, or as `rules` have it,
        such as `{"match": {"route": "GET /today"}, "respond": {"json": {"celsius": 21}}}`. `wiremock` and `har` are
        files of these tools. Each is JSON, a text of YAML or JSON, or a path. What of the files has become no rule is
        in `unmapped` of the upstream.
        """
        body = {"name": name, "openapi": openapi, "rules": rules, **files}
        made = self.control("POST", "/_sandbox/upstreams", json={n: v for n, v in body.items() if v is not None})
        return Upstream(self, name, made["unmapped"])

    def offline(self) -> None:
        """Takes all upstreams offline."""
        for upstream in self.upstreams:
            upstream.offline()

    def online(self) -> None:
        """Brings all upstreams back."""
        for upstream in self.upstreams:
            upstream.online()

    def front_fault(self, *faults: str, route: str | None = None, times: int | None = None, after: int = 0) -> None:
        """Sets what is wrong with Larder itself as the front end sees it: everywhere, or at a route."""
        body = {"fault": faults[0] if len(faults) == 1 else list(faults)}
        if route is not None:
            body |= {"route": route, "after": after} | ({} if times is None else {"times": times})
        self.control("PUT", "/_harness/front/fault", json=body)

    # What the front end has asked for

    def requests(self, **filters: Any) -> list[Request]:
        """The requests to Larder, oldest first; by `route, method, path, query, header, status, since, until, request_id`."""
        entries = self.control("GET", "/_harness/journal", query=filters)["entries"]
        return [Request.read(entry) for entry in entries]

    def count(self, **filters: Any) -> int:
        return self.control("GET", "/_harness/journal", query={**filters, "count": True})["count"]

    def wait(self, count: int = 1, *, timeout_s: float = 60, **filters: Any) -> list[Request]:
        """Waits for that many requests; with `waiting=True` for those that wait for an upstream."""
        query = {**filters, "count": count, "timeout_ms": int(timeout_s * 1000)}
        entries = self.control("GET", "/_harness/journal/wait", query=query)["entries"]
        return [Request.read(entry) for entry in entries]

    def forget(self) -> None:
        """Empties both journals."""
        self.control("DELETE", "/_harness/journal")
        self.control("DELETE", "/_sandbox/journal")

    def verify(
        self,
        method: str | None = None,
        path: str | None = None,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        status: int | None = None,
        upstream: str | None = None,
        **match: Any,
    ) -> int:
        """Raises `Unverified`, with the nearest requests, unless so many requests match. Returns how many did.

        `path` is the whole path, unless it ends with `/**`. `match` may have `query`, `header` and `body`, and `route`
        in place of method and path; `upstream` takes the journal of that one. Raises `Refused` for what could never
        match, and if it cannot be told, since requests are forgotten or a body is not known.
        """
        match = {"method": method, "path": path, **match}
        expected = {
            "match": {name: value for name, value in match.items() if value is not None},
            "status": status, "upstream": upstream, "exactly": exactly, "at_least": at_least, "at_most": at_most,
        }
        expected = {name: value for name, value in expected.items() if value is not None}
        try:
            return self.control("POST", "/_harness/verify", json=expected)["matched"]
        except Refused as refusal:
            if refusal.status != 417:
                raise
            raise Unverified(expected, refusal.problem) from None

    def verify_recordings(self, oldest_days: int | None = None) -> None:
        """Raises an AssertionError if a request in replay had no recording, or one that is older than so many days."""
        body = None if oldest_days is None else {"oldest_days": oldest_days}
        try:
            self.control("POST", "/_harness/verify/recordings", json=body)
        except Refused as refusal:
            if refusal.status != 417:
                raise
            lines = [f"{one['upstream']}: no recording of {one['request']}" for one in refusal.problem["unmatched"]]
            lines += [f"{one['upstream']}: {one['file']} is of {one['day']}" for one in refusal.problem["old"]]
            raise AssertionError("\n".join(lines)) from None

    # State

    def seed(self, document: dict[str, Any]) -> Any:
        """Adds accounts, notes, a list, documents, files and records of upstreams: all of it, or nothing.

        Raises `Refused`, whose text has the pointer of each value at fault.
        """
        return self.control("PUT", "/_harness/seed", json=document)

    def snapshot(self, name: str) -> Any:
        """Keeps the state of Larder, its upstreams and its clock under a name."""
        return self.control("PUT", f"/_harness/snapshots/{quote(name, safe='')}")

    def restore(self, name: str) -> Any:
        """Brings a kept state back."""
        return self.control("POST", f"/_harness/snapshots/{quote(name, safe='')}/restore")

    @property
    def log(self) -> list[str]:
        """The lines of the log, as far as this object has started the server."""
        return []

    def report(self, last: int = 30) -> dict[str, str]:
        """The last requests, the clock and the log, by title: for a test that has failed."""
        return report(self, last)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
