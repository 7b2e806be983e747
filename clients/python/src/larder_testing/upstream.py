"""One simulated upstream: what is wrong with it, and what was requested from it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .journal import Request

if TYPE_CHECKING:
    from .controls import Controls


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


class Upstream:
    """Controls of one simulated upstream, such as `spacex`."""

    def __init__(self, controls: "Controls", name: str, unmapped: list[dict[str, str]] | None = None):
        self._controls = controls
        self.name = name
        self.unmapped = unmapped or []
        """Parts of the files of other tools that `stub` could not take, each with its `source` and `member`."""

    def _call(self, method: str, path: str, json: Any = None) -> Any:
        return self._controls.control(method, f"/_sandbox/upstreams/{self.name}{path}", json=json)

    @property
    def url(self) -> str:
        """The base URL at which it is simulated."""
        return f"{self._controls.sandbox_url}/{self.name}"

    def remove(self) -> None:
        """Removes an upstream that was made with `stub`."""
        self._call("DELETE", "")

    # Recordings

    def mode(self, mode: str) -> None:
        """Sets what becomes of requests: `live`, `record`, `replay`, `spy`, `modify` or `diff`.

        All but `live` need a folder: the setting `upstreams_NAME_fixtures` of `Larder.start`.
        """
        self._controls.control("PUT", f"/_harness/upstreams/{self.name}/mode", json={"mode": mode})

    @property
    def recordings(self) -> dict[str, Any]:
        """`files` with their uses, those that are `broken`, requests `unmatched` by any, and `differences`."""
        return self._controls.control("GET", f"/_harness/upstreams/{self.name}")

    # Faults

    def fault(self, *faults: str) -> None:
        """Sets what is wrong with every request: `offline`, `slow(300)`, `error(503)`; several are combined."""
        self._call("PUT", "/fault", {"fault": faults[0] if len(faults) == 1 else list(faults)})

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
        body = {"count": count, "sequence": sequence}
        body = {name: value for name, value in body.items() if value is not None}
        return self._call("POST", "/release", body or None)["released"]

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
        body = {"match": match, "fault": fault, "faults": faults, "respond": respond, "times": times, "after": after}
        return Rule(self, self._call("POST", "/rules", {n: v for n, v in body.items() if v is not None})["id"])

    def rules(self) -> list[dict[str, Any]]:
        return self._call("GET", "/rules")["rules"]

    def remove_rules(self) -> None:
        self._call("DELETE", "/rules")

    # What was requested

    def _journal(self, path: str, filters: dict[str, Any]) -> Any:
        return self._controls.control("GET", f"/_sandbox/journal{path}", query={"upstream": self.name, **filters})

    def requests(self, **filters: Any) -> list[Request]:
        """The requests, oldest first; by `method, path, query, header, status, since, until, request_id`."""
        return [Request.read(entry) for entry in self._journal("", filters)["entries"]]

    def count(self, **filters: Any) -> int:
        return self._journal("", {**filters, "count": True})["count"]

    def wait(self, count: int = 1, *, timeout_s: float = 60, **filters: Any) -> list[Request]:
        """Waits until that many requests have arrived, and returns them."""
        values = {**filters, "count": count, "timeout_ms": int(timeout_s * 1000)}
        return [Request.read(entry) for entry in self._journal("/wait", values)["entries"]]
