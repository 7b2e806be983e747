"""What goes wrong."""
from __future__ import annotations

from typing import Any


class StartError(Exception):
    """The server did not start."""


class Refused(Exception):
    """A control was refused; the text says what is accepted."""

    def __init__(self, call: str, status: int, problem: Any):
        self.status = status
        self.problem: dict[str, Any] = problem if isinstance(problem, dict) else {}
        detail = self.problem.get("detail") or problem
        errors = [f"\n  {one.get('pointer')}: {one.get('detail')}" for one in self.problem.get("errors", [])]
        super().__init__(f"{call}: {status} {detail}" + "".join(errors))


class Unverified(AssertionError):
    """The requests were not those that the test expects; the text shows those that come nearest."""

    def __init__(self, expected: dict[str, Any], answer: dict[str, Any]):
        self.expected = expected
        self.matched: int = answer.get("matched", 0)
        self.near_misses: list[dict[str, Any]] = answer.get("near_misses", [])
        super().__init__("\n".join(self._lines(answer)))

    def _lines(self, answer: dict[str, Any]):
        match = self.expected.get("match", {})
        wanted = " ".join(str(match[name]) for name in ("method", "path") if name in match) or "any request"
        rest = {name: value for name, value in match.items() if name not in ("method", "path")}
        names = ("exactly", "at_least", "at_most")
        numbers = ", ".join(f"{name} {self.expected[name]}" for name in names if name in self.expected)
        place = f" at {self.expected['upstream']}" if "upstream" in self.expected else ""
        status = f" with status {self.expected['status']}" if "status" in self.expected else ""
        conditions = f" {rest}" if rest else ""
        yield f"expected {numbers or 'at_least 1'} of {wanted}{conditions}{status}{place}; found {self.matched}"
        for entry in answer.get("matching", []):
            yield f"  found     {_line(entry)}"
        for miss in self.near_misses:
            yield f"  near miss {_line(miss['entry'])}"
            for one in miss["differences"]:
                yield f"            {one['field']}: expected {one['expected']!r}, was {one['actual']!r}"
        if not self.near_misses and not answer.get("matching"):
            yield "  no request at all"


def _line(entry: dict[str, Any]) -> str:
    return f"#{entry['sequence']} {entry['method']} {entry['path']} → {entry['status']}"
