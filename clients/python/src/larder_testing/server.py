"""The process, and spaces in it."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from .controls import Controls
from .errors import StartError
from .http import PATIENCE_S, given, operator, send

# A wheel of script/release has the program inside.
_INSIDE = pathlib.Path(__file__).parent / "program/larder"


def main() -> None:
    """The command `larder` of the wheel."""
    os.execv(_INSIDE, [str(_INSIDE), *sys.argv[1:]])


class Larder(Controls):
    """A running server."""

    def __init__(self, url: str, sandbox_url: str, process: "_Process | None" = None):
        super().__init__(url, sandbox_url)
        self._process = process

    @classmethod
    def start(cls, executable: str | None = None, **settings: Any) -> "Larder":
        """Starts a server with simulated upstreams, a free port and a new data directory.

        `executable` defaults to `LARDER_EXECUTABLE`, then to the program inside this package, then to `larder`;
        `freshness_ships_s=60` is a setting.
        """
        executable = executable or os.environ.get("LARDER_EXECUTABLE")
        process = _Process(executable or (str(_INSIDE) if _INSIDE.exists() else "larder"), settings)
        return cls(process.url, process.sandbox_url, process)

    @classmethod
    def from_environment(cls, number: int = 0) -> "Larder | None":
        """The server that `larder exec` has started; with `--spaces`, the one of a worker by its number."""
        if spaces := json.loads(os.environ.get("LARDER_SPACES") or "[]"):
            space = spaces[number % len(spaces)]
            return cls(space["url"], space["sandbox"])
        url, sandbox = os.environ.get("LARDER_URL"), os.environ.get("LARDER_SANDBOX_URL")
        return cls(url, sandbox) if url and sandbox else None

    @property
    def has_spaces(self) -> bool:
        """Whether this server can have spaces; a space has none of its own."""
        return send(self.sandbox_url, "GET", "/_harness/spaces", headers=operator()).status == 200

    def space(self, name: str | None = None, *, snapshot: str | None = None, **options: Any) -> "Space":
        """Makes a space: a server with data, upstreams, journals and clock of its own in this process.

        It begins with a `snapshot` of this server, else with nothing.
        """
        body = given(**{"name": name, "from": snapshot, **options})
        return Space(self, self.control("POST", "/_harness/spaces", json=body))

    @property
    def log(self) -> list[str]:
        return self._process.log() if self._process else []

    def close(self) -> None:
        """Stops the server if this object has started it."""
        super().close()
        if self._process:
            self._process.stop()

    stop = close


class Space(Controls):
    """A space of a server."""

    def __init__(self, larder: Larder, made: dict[str, Any]):
        super().__init__(made["url"], made["sandbox"])
        self.name: str = made["name"]
        self._larder = larder
        self._has_ended = False

    @property
    def log(self) -> list[str]:
        return [line for line in self._larder.log if f"space={self.name}" in line.split()]

    def close(self) -> None:
        """Ends the space and removes its files. Does nothing if it was ended before."""
        if self._has_ended:
            return
        self._has_ended = True
        super().close()
        self._larder.control("DELETE", f"/_harness/spaces/{self.name}")

    end = close


class _Process:
    """`larder serve`, which stops with this program, also if that is killed."""

    def __init__(self, executable: str, settings: dict[str, Any]):
        self._folder = tempfile.mkdtemp(prefix="larder-testing-")
        command = [executable, "serve", "--sandbox", "--harness", "--stop-with-stdin"]
        values = {"http-port": 0, "data-directory": f"{self._folder}/data", "log-level": "warning", **settings}
        for name, value in values.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        # Of the environment, what begins so is a setting of the server.
        variables = {name: value for name, value in os.environ.items() if not name.startswith("LARDER_")}
        try:
            with open(f"{self._folder}/log", "wb") as log:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=variables
                )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise StartError(f"{executable} cannot be started ({error}); is LARDER_EXECUTABLE set?") from None
        self.url = self.sandbox_url = ""
        self._read()

    def _read(self) -> None:
        for line in self._process.stdout or []:
            if line.startswith("sandbox on "):
                self.sandbox_url = line.split()[-1]
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return
        text = "\n".join(self.log())
        self.stop()
        if "GLIBC" in text:
            text += "\nThis machine's C library is too old; a Larder elsewhere works: LARDER_URL, LARDER_SANDBOX_URL."
        raise StartError(f"the server did not start:\n{text}")

    def log(self) -> list[str]:
        with open(f"{self._folder}/log", errors="replace") as log:
            return log.read().splitlines()

    def stop(self) -> None:
        try:
            self._process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)
