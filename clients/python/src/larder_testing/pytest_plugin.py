"""For pytest: fixtures `larder`, `larder_space`, `larder_url`, the mark `larder`, and reports of tests that fail."""
from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import Any, Iterator

import pytest

from .controls import Controls
from .server import Larder

_MARK = """larder(now=None, frozen=False, seed=None, snapshot=None, condition=None, faults={}, front=None,
document=None, strict=None):
the world of the test: its clock, the seed of what is random, a snapshot of `larder` to begin with, what is wrong even
after a reset, faults by upstream, a fault of Larder itself, a document of `seed`, and strict=DAYS: the test fails if a
request in replay had no recording, or one that is older"""
# The report of a world that has ended by the time its test is reported.
_REPORT = pytest.StashKey[dict[str, str]]()
_OF_SPACES = ("now", "frozen", "seed", "snapshot", "condition")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("larder_executable", "the program larder; LARDER_EXECUTABLE replaces it", default="")
    parser.addini("larder_settings", "settings of the server, a line each, such as freshness_ships_s=60", "linelist")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK.replace("\n", " "))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds journals, clock and log of its server to the report of a test that fails, or of its setup or teardown."""
    report = (yield).get_result()
    if not report.failed:
        return
    if _REPORT in item.stash:
        report.sections += item.stash[_REPORT].items()
        return
    fixtures = getattr(item, "funcargs", {})
    world = fixtures.get("larder_space") or fixtures.get("larder")
    if report.when != "teardown" and world is not None:
        report.sections += _report(world).items()


def _report(world: Controls) -> dict[str, str]:
    try:
        return world.report()
    except Exception as error:  # the report of the failure is worth more
        return {"larder": f"no report: {error}"}


@contextmanager
def _kept(world: Controls, item: pytest.Item) -> Iterator[None]:
    """Keeps the report of a world if something fails, since it ends before that is reported."""
    try:
        yield
    except Exception:
        item.stash[_REPORT] = _report(world)
        raise


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
def larder_space(larder: Larder, request: pytest.FixtureRequest) -> Iterator[Controls]:
    """A world for one test, as its marks have it: a new space, or the server after a reset if it has no spaces."""
    wishes: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("larder"))):
        wishes |= mark.kwargs
    strict = wishes.pop("strict", None)
    options = {name: wishes.pop(name) for name in _OF_SPACES if name in wishes}
    if unknown := set(wishes) - {"faults", "front", "document"}:
        raise pytest.UsageError(f"@pytest.mark.larder has no {', '.join(sorted(unknown))}; it is {_MARK}")
    if larder.has_spaces:
        with larder.space(**options) as space:
            yield from _lent(space, request.node, wishes, strict)
        return
    if needs := set(options) - {"now", "frozen"}:
        pytest.skip(f"a space has no spaces of its own, which {', '.join(sorted(needs))} would need")
    larder.reset()
    if options:
        larder.control("PUT", "/_harness/clock", json=options)
    yield from _lent(larder, request.node, wishes, strict)


def _lent(world: Controls, item: pytest.Item, wishes: dict[str, Any], strict: int | None) -> Iterator[Controls]:
    """Fills a world, lends it to a test, and verifies its recordings."""
    with _kept(world, item):
        _filled(world, **wishes)
    yield world
    if strict is not None:
        with _kept(world, item):
            world.verify_recordings(strict)


def _filled(
    space: Controls, faults: dict[str, Any] | None = None, front: str | None = None, document: Any = None
) -> Controls:
    if document is not None:
        space.seed(document)
    for name, fault in (faults or {}).items():
        space.upstream(name).fault(*([fault] if isinstance(fault, str) else fault))
    if front is not None:
        space.front_fault(front)
    return space


@pytest.fixture
def larder_url(larder_space: Controls) -> str:
    """The base URL of the test's world, such as for Playwright: `page.goto(f"{larder_url}/ships")`."""
    return larder_space.url
