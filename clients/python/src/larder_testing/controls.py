"""A server, or a space of it, as a test drives it."""
from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from .errors import Refused, Unverified
from .events import Events
from .http import Request, Response, combined, given, operator, send


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


class Journal:
    """What was requested of a server or an upstream."""

    def _journal(self, path: str, filters: dict[str, Any]) -> Any:
        raise NotImplementedError

    def requests(self, **filters: Any) -> list[Request]:
        """Returns the requests, oldest first.

        `method, path, query, header, status, since, until, request_id` choose some, `route` those to a route of Larder.
        """
        return [Request.read(entry) for entry in self._journal("", filters)["entries"]]

    def count(self, **filters: Any) -> int:
        return self._journal("", {**filters, "count": True})["count"]

    def wait(self, count: int = 1, *, timeout_s: float = 60, **filters: Any) -> list[Request]:
        """Waits until that many requests have arrived; with `waiting=True` those that wait for an upstream."""
        values = {**filters, "count": count, "timeout_ms": int(timeout_s * 1000)}
        return [Request.read(entry) for entry in self._journal("/wait", values)["entries"]]


@dataclass(frozen=True)
class Clock:
    """The clock of Larder and of its simulated upstreams. It goes forward, until it is ended or reset."""

    _controls: "Controls"

    def _call(self, method: str, path: str = "", json: Any = None) -> dict[str, Any]:
        return self._controls.control(method, f"/_harness/clock{path}", json=json)

    @property
    def now(self) -> str:
        return self._call("GET")["now"]

    @property
    def frozen(self) -> bool:
        return self._call("GET")["frozen"]

    def freeze(self, at: str | None = None) -> str:
        """Stops the clock, now or at a time such as `2030-01-05T10:00:00Z`. Returns what it shows."""
        return self._call("PUT", json=given(now=at, frozen=True))["now"]

    def run(self) -> str:
        """Lets time pass again."""
        return self._call("PUT", json={"frozen": False})["now"]

    def end(self) -> str:
        """Shows the machine's time again. Larder starts anew with its data."""
        return self._call("DELETE")["now"]

    def advance(self, seconds: float) -> str:
        """Moves the clock on; what has become due is done when this returns."""
        return self._call("POST", "/advance", {"s": seconds})["now"]


@dataclass(frozen=True)
class Rule:
    """What is wrong with some requests of an upstream."""

    upstream: "Upstream"
    id: int

    @property
    def state(self) -> dict[str, Any]:
        """The rule with its counts: `matched`, `applied`, `left`."""
        return self.upstream._call("GET", f"/rules/{self.id}")

    @property
    def left(self) -> int | None:
        """How many requests will still get a fault; None for any number."""
        return self.state["left"]

    @property
    def applied(self) -> int:
        """How many requests got a fault."""
        return self.state["applied"]

    def remove(self) -> None:
        self.upstream._call("DELETE", f"/rules/{self.id}")


class Upstream(Journal):
    """Controls of one simulated upstream, such as `spacex`."""

    def __init__(self, controls: "Controls", name: str, unmapped: list[dict[str, str]] | None = None):
        self._controls = controls
        self.name = name
        self.unmapped = unmapped or []
        """Parts of the files of other tools that `stub` could not take, each with its `source` and `member`."""

    def _call(self, method: str, path: str, json: Any = None) -> Any:
        return self._controls.control(method, f"/_sandbox/upstreams/{self.name}{path}", json=json)

    def _journal(self, path: str, filters: dict[str, Any]) -> Any:
        return self._controls.control("GET", f"/_sandbox/journal{path}", query={"upstream": self.name, **filters})

    @property
    def url(self) -> str:
        """The base URL at which it is simulated."""
        return f"{self._controls.sandbox_url}/{self.name}"

    def remove(self) -> None:
        """Removes an upstream that was made with `stub`."""
        self._call("DELETE", "")

    def mode(self, mode: str) -> None:
        """Sets what becomes of requests: `live`, `record`, `replay`, `spy`, `modify` or `diff`.

        All but `live` need a folder: the setting `upstreams_NAME_fixtures` of `Larder.start`.
        """
        self._controls.control("PUT", f"/_harness/upstreams/{self.name}/mode", json={"mode": mode})

    @property
    def recordings(self) -> dict[str, Any]:
        """`files` with their uses, those that are `broken`, requests `unmatched` by any, and `differences`."""
        return self._controls.control("GET", f"/_harness/upstreams/{self.name}")

    def fault(self, *faults: str) -> None:
        """Sets what is wrong with every request: `offline`, `slow(300)`, `error(503)`; several are combined."""
        self._call("PUT", "/fault", {"fault": combined(faults)})

    def offline(self) -> None:
        self.fault("offline")

    def online(self) -> None:
        self.fault("online")

    def hold(self) -> None:
        """Lets requests wait until they are released."""
        self.fault("hold")

    @property
    def waiting(self) -> int:
        """How many requests are held."""
        return self._call("GET", "/fault")["waiting"]

    def release(self, count: int | None = None, *, sequence: int | None = None) -> int:
        """Releases held requests: all, the first `count`, or one by its number. Returns how many."""
        return self._call("POST", "/release", given(count=count, sequence=sequence))["released"]

    def rule(
        self,
        fault: str | list[str] | None = None,
        *,
        faults: list[Any] | None = None,
        respond: dict[str, Any] | None = None,
        times: int | None = None,
        after: int | None = None,
        **match: Any,
    ) -> Rule:
        """Adds a rule for the requests with this `method`, `path`, `query`, `header` and `body`.

        `faults` are given to them in turn, `respond` is a response in place of the upstream's; `times` is for how
        many, `after` how many pass before.
        """
        body = given(match=match, fault=fault, faults=faults, respond=respond, times=times, after=after)
        return Rule(self, self._call("POST", "/rules", body)["id"])

    def rules(self) -> list[dict[str, Any]]:
        return self._call("GET", "/rules")["rules"]

    def remove_rules(self) -> None:
        self._call("DELETE", "/rules")


class Controls(Requests, Journal):
    """The controls of one server or space."""

    def __init__(self, url: str, sandbox_url: str):
        self.url = url.rstrip("/")
        self.sandbox_url = sandbox_url.rstrip("/").removesuffix("/_sandbox")
        self.clock = Clock(self)
        self._pool = ThreadPoolExecutor(64, "larder")

    @property
    def log(self) -> list[str]:
        """The lines of the log, as far as this object has started the server."""
        return []

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

    def _journal(self, path: str, filters: dict[str, Any]) -> Any:
        return self.control("GET", f"/_harness/journal{path}", query=filters)

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
        body = given(name=name, openapi=openapi, rules=rules, **files)
        return Upstream(self, name, self.control("POST", "/_sandbox/upstreams", json=body)["unmapped"])

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
        place = {} if route is None else given(route=route, after=after, times=times)
        self.control("PUT", "/_harness/front/fault", json={"fault": combined(faults), **place})

    # What the front end has asked for

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
        numbers = given(status=status, upstream=upstream, exactly=exactly, at_least=at_least, at_most=at_most)
        return self._verified("", {"match": given(method=method, path=path, **match), **numbers})["matched"]

    def verify_recordings(self, oldest_days: int | None = None) -> None:
        """Raises `Unverified` if a request in replay had no recording, or one that is older than so many days."""
        self._verified("/recordings", given(oldest_days=oldest_days))

    def _verified(self, path: str, expected: dict[str, Any]) -> Any:
        try:
            return self.control("POST", f"/_harness/verify{path}", json=expected)
        except Refused as refusal:
            if refusal.status != 417:
                raise
            raise Unverified(expected, refusal.problem) from None

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

    def report(self, last: int = 30) -> dict[str, str]:
        """The last requests, the clock and the log, by title: for a test that has failed."""
        sections = {}
        for title, path in (("requests to Larder", "/_harness"), ("requests to upstreams", "/_sandbox")):
            entries = self.control("GET", f"{path}/journal", query={"limit": last})["entries"]
            sections[title] = "\n".join(str(Request.read(entry)) for entry in entries) or "none"
        sections["clock"] = self.clock.now + (", frozen" if self.clock.frozen else "")
        sections["log"] = "\n".join(self.log[-last:]) or "nothing"
        return {f"larder: {title}": text for title, text in sections.items()}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
