import os, pathlib, re, sys

sys.dont_write_bytecode = True
import pytest
from playwright.sync_api import expect, sync_playwright

import authority
from engines import ENGINES
from larder import PATIENCE_MS, Larder
from visitor import Visitor
from walker import Walker, watched

ROOT = pathlib.Path(__file__).parents[2]
FAILURES = ROOT / ".build/web-failures"
expect.set_options(timeout=PATIENCE_MS)


def pytest_addoption(parser):
    default = os.environ.get("LARDER_EXECUTABLE", str(ROOT / ".build/debug/larder"))
    parser.addoption("--larder", default=default, help="the executable to test")
    parser.addoption("--site", help="serves the pages from this folder instead of those in the executable")
    parser.addoption("--engines", default="chromium", help="chromium, firefox, webkit, or all")
    parser.addoption("--large", action="store_true", help="files of 2 GB where 192 MiB are enough otherwise")
    parser.addoption("--matching", default="", help="only tests whose name matches this regular expression")


def pytest_collection_modifyitems(config, items):
    wanted = re.compile(config.getoption("--matching"))
    engines = config.getoption("--engines").replace("all", ",".join(["chromium", *ENGINES])).split(",")
    chosen = [item for item in items if wanted.search(item.nodeid) and engine(item) in engines]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def engine(item):
    """The browser that a test drives."""
    return item.callspec.params["other_browser"] if "other_browser" in item.fixturenames else "chromium"


@pytest.fixture(scope="session")
def secure(request, tmp_path_factory):
    """Settings of a server with a certificate that the browser trusts, and the browser's environment."""
    folder = tmp_path_factory.mktemp("authority")
    settings = authority.make(request.config.getoption("--larder"), folder)
    return settings, authority.trust(folder, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def browser(secure):
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not run as root.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = "/usr/bin/chromium-headless-shell"
        browser = playwright.chromium.launch(executable_path=chromium, args=options, env=secure[1])
        yield browser
        browser.close()


@pytest.fixture
def start(request, tmp_path):
    """Starts servers; the first one is also the fixture `larder`."""
    servers = []

    def start(**settings):
        folder = tmp_path / f"larder{len(servers)}"
        folder.mkdir()
        if site := request.config.getoption("--site"):
            settings.setdefault("web_directory", site)
        # Without a folder the pages are those of the program.
        settings = {name: value for name, value in settings.items() if value is not None}
        servers.append(Larder(request.config.getoption("--larder"), folder, **settings).start())
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def larder(start, request):
    """A running server; `@pytest.mark.settings(…)` sets it up."""
    marker = request.node.get_closest_marker("settings")
    settings = marker.kwargs if marker else {}
    if "walker" in request.fixturenames:
        settings = {**settings, "web_directory": request.getfixturevalue("watched_site")}
    return start(**settings)


@pytest.fixture
def visit(browser, request):
    """Makes visitors of a server: `visit(larder, width=390)`."""
    request.node.visitors = visitors = []

    def visit(larder, **options):
        visitors.append(Visitor(browser, larder, **options))
        return visitors[-1]

    yield visit
    for visitor in visitors:
        # A page may still ask for what a route of the test changes: the route would fail as the context goes away.
        for page in visitor.context.pages:
            page.unroute_all(behavior="ignoreErrors")
        visitor.context.close()


@pytest.fixture
def visitor(visit, larder):
    return visit(larder)


@pytest.fixture(scope="session", params=ENGINES)
def other_browser(request, tmp_path_factory):
    """A browser that is not Chromium."""
    browser = ENGINES[request.param](tmp_path_factory.mktemp(request.param))
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def watched_site(request, tmp_path_factory):
    site = request.config.getoption("--site") or ROOT / "Sources/CWebAssets/site"
    return watched(site, tmp_path_factory.mktemp("site") / "watched")


@pytest.fixture
def walker(other_browser, larder, request):
    """A person at that browser."""
    request.node.walkers = [Walker(other_browser, larder)]
    yield request.node.walkers[0]
    request.node.walkers[0].forget()


@pytest.fixture
def figures(record_property):
    """Lines that the run prints at its end, whichever worker the test is run by."""
    return lambda line: record_property("figure", line)


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.getreports("passed"):
        for name, figure in report.user_properties:
            if name == "figure":
                terminalreporter.write_line(figure)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fails a test in whose pages a script failed; keeps pictures of the pages of a test that failed."""
    try:
        result = yield
        faults = [fault for visitor in getattr(item, "visitors", []) for fault in visitor.faults]
        faults += [fault for walker in getattr(item, "walkers", []) for fault in walker.faults()]
        assert not faults, "in the console:\n" + "\n".join(faults)
        return result
    except BaseException:
        keep(item)
        raise


def keep(item):
    FAILURES.mkdir(parents=True, exist_ok=True)
    for walker in getattr(item, "walkers", []):
        walker.picture(FAILURES / f"{item.name}.png")
    pages = [page for visitor in getattr(item, "visitors", []) for page in visitor.context.pages]
    for number, page in enumerate(pages):
        try:
            page.screenshot(path=FAILURES / f"{item.name}-{number}.png", timeout=10_000)
            (FAILURES / f"{item.name}-{number}.html").write_text(f"<!-- {page.url} -->\n{page.content()}")
        except Exception as error:
            print(f"no picture of {page.url}: {error}")
