"""`larder scenario run`: steps in a file."""
import os
import subprocess
import xml.etree.ElementTree as xml

import pytest

OUTAGE = """
name: the list survives an outage
steps:
  - do: {request: POST /v1/ships/session, body: {mode: guest}, save: {token: /data/token}}
  - on: {request: GET /v4/ships, nth: 2, upstream: spacex}
    do: {fault: offline}
  - do: {request: GET /v1/ships, token: "{{token}}"}
  - expect: {status: 200, json: {/meta/offline: false}}
  - do: {request: "GET /v1/ships?refresh=1", token: "{{token}}"}
  - expect:
      json: {/meta/offline: true, /meta/banner/code: offline}
      requests:
        - {match: {method: GET, path: /v1/ships}, exactly: 2}
        - {upstream: spacex, match: {path: /v4/ships}, status: 200, exactly: 1}
"""


@pytest.fixture
def run(pytestconfig, tmp_path):
    """Runs a scenario; returns how it ended, and its report."""

    def run(text):
        program = os.environ.get("LARDER_EXECUTABLE") or pytestconfig.getini("larder_executable")
        (tmp_path / "a.yaml").write_text(text)
        command = [program, "scenario", "run", "a.yaml", "--junit", "out.xml", "--log-level", "error"]
        variables = {name: value for name, value in os.environ.items() if not name.startswith("LARDER_")}
        ran = subprocess.run(command, cwd=tmp_path, env=variables, timeout=120, capture_output=True, text=True)
        report = tmp_path / "out.xml"
        return ran, xml.parse(report).getroot().find("testsuite") if report.exists() else None

    return run


def test_a_step_by_event_needs_no_driving(run):
    ran, suite = run(OUTAGE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (suite.get("tests"), suite.get("failures")) == ("6", "0")


def test_a_failure_is_in_the_report(run):
    ran, suite = run(OUTAGE.replace("exactly: 2", "exactly: 3"))
    assert ran.returncode == 1 and "requests to upstreams" in ran.stdout, ran.stdout + ran.stderr
    [failure] = [case.find("failure") for case in suite if case.find("failure") is not None]
    assert "POST /_harness/verify: 417" in failure.get("message") and "GET /v1/ships" in failure.text


def test_a_file_that_is_no_scenario_is_refused_by_its_line(run):
    ran, suite = run("steps:\n  - doo: {}\n")
    assert ran.returncode == 65 and suite is None and "a.yaml:2:" in ran.stderr
