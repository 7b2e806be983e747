"""Server-sent events."""
from __future__ import annotations

import json
import queue
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

from .http import PATIENCE_S, connect, target


@dataclass(frozen=True)
class Event:
    """One event; `data` is decoded."""

    name: str
    data: Any
    id: str | None


class Events:
    """Listens to an event stream from now on: `with larder.events() as events: events.wait("connectivity")`."""

    def __init__(self, base: str, path: str, headers: dict[str, str]):
        self._arrived: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self.seen: list[Event] = []
        self._connection = connect(base, None)
        self._connection.request("GET", target(base, path), headers={**headers, "Accept": "text/event-stream"})
        # Before the response has a body without an end, which would take the socket with it.
        self._socket = self._connection.sock
        self._response = self._connection.getresponse()
        if self._response.status != 200:
            raise AssertionError(f"GET {path}: {self._response.status} {self._response.read()[:300]!r}")
        # The first lines are there before anything can happen.
        self._response.readline()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        fields: dict[str, str] = {}
        try:
            while line := self._response.readline():
                name, _, value = line.decode().rstrip("\r\n").partition(":")
                if name:
                    fields[name] = f"{fields[name]}\n{value[1:]}" if name == "data" and name in fields else value[1:]
                elif line.strip() == b"":
                    if "data" in fields:
                        self._arrived.put(_event(fields))
                    fields = {}
        except (OSError, ValueError, AttributeError):
            pass  # closed by this side
        self._arrived.put(None)

    def wait(
        self, name: str, when: Callable[[Any], bool] = lambda data: True, *, timeout_s: float = PATIENCE_S
    ) -> Event:
        """Returns the next event of a name whose data fits; those before it are in `seen`."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                event = self._arrived.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no event {name} within {timeout_s} s, but {self.seen}") from None
            if event is None:
                raise AssertionError(f"the stream ended without {name}, after {self.seen}")
            self.seen.append(event)
            if event.name == name and when(event.data):
                return event

    def close(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # closed by the other side
        self._connection.close()

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def _event(fields: dict[str, str]) -> Event:
    return Event(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))
