"""What a person needs of a test that has failed."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .journal import Request

if TYPE_CHECKING:
    from .controls import Controls


def report(larder: "Controls", last: int) -> dict[str, str]:
    """The last entries of both journals, the clock and the log of a server or space, by title."""
    sections = {}
    for title, path in (("requests to Larder", "/_harness"), ("requests to upstreams", "/_sandbox")):
        entries = larder.control("GET", f"{path}/journal", query={"limit": last})["entries"]
        sections[title] = "\n".join(_line(Request.read(entry)) for entry in entries) or "none"
    sections["clock"] = larder.clock.now + (", frozen" if larder.clock.frozen else "")
    sections["log"] = "\n".join(larder.log[-last:]) or "nothing"
    return {f"larder: {title}": text for title, text in sections.items()}


def _line(one: Request) -> str:
    status = "waits" if one.waiting else one.status or "no response"
    cause = f"  because of {one.cause}" if one.cause is not None else ""
    fault = f"  fault {one.fault}" if one.fault and one.fault != "online" else ""
    return f"#{one.sequence} {one.method} {one.path} → {status}{fault}{cause}"
