"""What a person sees of a test that fails."""
import subprocess
import sys

from test_exec import environment, executable

SUITE = """
import pytest

def test_fails(larder_space):
    larder_space.clock.freeze("2030-01-05T10:00:00Z")
    guest = larder_space.session("ships", mode="guest")
    larder_space.upstream("spacex").fault("error(500)")
    guest.get("/v1/ships?refresh=1")
    larder_space.verify("GET", "/v1/ships", exactly=2)

def test_passes(larder_space):
    larder_space.get("/v1/shop/list")

@pytest.mark.larder(faults={"spacex": "nothing"})
def test_has_no_such_fault(larder_space):
    pass

@pytest.mark.larder(faulty={})
def test_is_wrong(larder_space):
    pass
"""


def test_journals_clock_and_log_are_in_the_report_of_a_failure(pytestconfig, tmp_path):
    """HARN-37"""
    (tmp_path / "test_one.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--strict-markers", "."]
    variables = environment() | {"LARDER_EXECUTABLE": executable(pytestconfig)}
    ran = subprocess.run(command, cwd=tmp_path, env=variables, timeout=120, capture_output=True, text=True)
    text = ran.stdout
    assert ran.returncode == 1 and "1 failed, 1 passed, 2 errors" in text, text + ran.stderr
    for shown in ("larder: requests to Larder", "GET /v1/ships?refresh=1 → 200", "larder: requests to upstreams",
                  "GET /spacex/v4/ships → 500  fault error(500)", "2030-01-05T10:00:00", "frozen", "larder: log"):
        assert shown in text, text
    setup = text.partition("ERROR at setup of test_has_no_such_fault")[2].partition("____ ")[0]
    assert "larder: requests to Larder" in setup, text
    assert "/v1/shop/list" not in text and "@pytest.mark.larder has no faulty" in text


def test_a_matrix_tells_what_each_condition_did(pytestconfig, tmp_path):
    (tmp_path / "test_one.py").write_text(
        "def test_one(larder_space):\n"
        "    guest = larder_space.session('ships', mode='guest')\n"
        "    assert guest.get('/v1/ships?refresh=1').meta['offline'] is False\n"
    )
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "."]
    command = [executable(pytestconfig), "exec", "--matrix", "online,offline,401", "--", *suite]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), timeout=120, capture_output=True, text=True)
    rows = [line.split("  ") for line in ran.stdout.splitlines()]
    rows = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ["the whole suite", "passed", "failed (1)", "failed (1)"] in rows, ran.stdout
    assert ["GET /v1/ships", "200", "200 unreachable", "401 session-expired"] in rows, ran.stdout
