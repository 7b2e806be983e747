"""The clock of Larder and of its simulated upstreams."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .controls import Controls


class Clock:
    """Goes forward only; a reset sets it back."""

    def __init__(self, controls: "Controls"):
        self._controls = controls

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
        return self._call("PUT", json={"frozen": True} if at is None else {"now": at, "frozen": True})["now"]

    def run(self) -> str:
        """Lets time pass again."""
        return self._call("PUT", json={"frozen": False})["now"]

    def advance(self, seconds: float) -> str:
        """Moves the clock on; what has become due is done when this returns."""
        return self._call("POST", "/advance", {"s": seconds})["now"]
