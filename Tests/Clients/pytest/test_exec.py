"""`larder exec`: a command with a server of its own."""
import os
import subprocess
import sys

import pytest
from larder_testing import Larder, StartError

SCRIPT = """
import sys
from larder_testing import Larder
larder = Larder.from_environment()
larder.reset()
sys.exit(int(sys.argv[1]) if larder.get("/v1/status").status == 200 else 99)
"""


def executable(pytestconfig):
    return os.environ.get("LARDER_EXECUTABLE") or pytestconfig.getini("larder_executable")


def environment():
    """Without the settings of this run, which is a suite itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("LARDER_", "PYTEST_"))}


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_that_of_the_command(pytestconfig, code):
    command = [executable(pytestconfig), "exec", "--", sys.executable, "-c", SCRIPT, str(code)]
    assert subprocess.run(command, env=environment(), timeout=120).returncode == code


@pytest.mark.parametrize("spaces, workers", [([], ["-p", "no:xdist"]), (["--spaces", "2"], ["-n", "2"])])
def test_a_suite_runs_below_it(pytestconfig, tmp_path, spaces, workers):
    (tmp_path / "test_one.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.parametrize('number', range(2))\n"
        "def test_one(larder_space, number):\n"
        "    assert larder_space.session('ships', mode='guest').get('/v1/ships').status == 200\n"
        "    assert larder_space.count() == 2\n"
    )
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "."]
    command = [executable(pytestconfig), "exec", *spaces, "--", *suite]
    ran = subprocess.run(command, cwd=tmp_path, env=environment(), timeout=120, capture_output=True, text=True)
    assert ran.returncode == 0 and "2 passed" in ran.stdout, ran.stdout + ran.stderr


def test_a_server_that_cannot_start_says_why(pytestconfig):
    with pytest.raises(StartError, match="http.port"):
        Larder.start(executable(pytestconfig), http_port="none")
    with pytest.raises(StartError, match="LARDER_EXECUTABLE"):
        Larder.start("/nowhere/larder")
