"""What goes wrong."""
from __future__ import annotations

from typing import Any, Iterator

from .http import Request


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

    def _lines(self, answer: dict[str, Any]) -> Iterator[str]:
        if "unmatched" in answer:
            yield from (f"{one['upstream']}: no recording of {one['request']}" for one in answer["unmatched"])
            yield from (f"{one['upstream']}: {one['file']} is of {one['day']}" for one in answer["old"])
            return
        rest = dict(self.expected.get("match", {}))
        wanted = " ".join(str(rest.pop(name)) for name in ("method", "path") if name in rest) or "any request"
        names = [name for name in ("exactly", "at_least", "at_most") if name in self.expected]
        numbers = ", ".join(f"{name} {self.expected[name]}" for name in names) or "at_least 1"
        place = f" at {self.expected['upstream']}" if "upstream" in self.expected else ""
        status = f" with status {self.expected['status']}" if "status" in self.expected else ""
        yield f"expected {numbers} of {wanted}{f' {rest}' if rest else ''}{status}{place}; found {self.matched}"
        for entry in answer.get("matching", []):
            yield f"  found     {Request.read(entry)}"
        for miss in self.near_misses:
            yield f"  near miss {Request.read(miss['entry'])}"
            for one in miss["differences"]:
                yield f"            {one['field']}: expected {one['expected']!r}, was {one['actual']!r}"
        if not self.near_misses and not answer.get("matching"):
            yield "  no request at all"
