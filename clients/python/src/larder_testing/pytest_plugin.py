"""Fixtures for pytest: `larder`, `larder_space`."""
from __future__ import annotations

import os
import re
from typing import Iterator

import pytest

from .controls import Controls
from .server import Larder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("larder_executable", "the program larder; LARDER_EXECUTABLE replaces it", default="")
    parser.addini("larder_settings", "settings of the server, a line each, such as freshness_ships_s=60", "linelist")


def _worker() -> int:
    """The number of this worker of pytest-xdist."""
    digits = re.search(r"\d+", os.environ.get("PYTEST_XDIST_WORKER", "gw0"))
    return int(digits[0]) if digits else 0


@pytest.fixture(scope="session")
def larder(pytestconfig: pytest.Config) -> Iterator[Larder]:
    """A server for the whole run, or the one of `larder exec`. A worker of pytest-xdist has one of its own."""
    server = Larder.from_environment(_worker())
    if server is None:
        lines = [line.partition("=") for line in pytestconfig.getini("larder_settings")]
        executable = os.environ.get("LARDER_EXECUTABLE") or pytestconfig.getini("larder_executable") or None
        server = Larder.start(executable, **{name.strip(): value.strip() for name, _, value in lines})
    elif "PYTEST_XDIST_WORKER" in os.environ and "LARDER_SPACES" not in os.environ and not server.has_spaces:
        raise pytest.UsageError("workers share LARDER_URL and would reset each other: larder exec --spaces N -- pytest")
    with server:
        yield server


@pytest.fixture
def larder_space(larder: Larder) -> Iterator[Controls]:
    """A world for one test: a new space, or the server after a reset if it has no spaces."""
    if not larder.has_spaces:
        larder.reset()
        yield larder
        return
    with larder.space() as space:
        yield space
