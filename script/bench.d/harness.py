"""The controls of tests: resets beside restarts, spaces, snapshots and seeds (docs/harness.md)."""
import http.client, json, shutil, statistics, subprocess, time

from larder import _address
from processes import ALL_CORES, Server, wait_for

NOTES, RESETS, RESTARTS = 1_000, 100, 10


class Tested(Server):
    """A server with its sandbox, as tests start it."""

    def __init__(self, path, folder, *settings):
        begin = time.monotonic()
        command = [path, "serve", "--sandbox", "--harness", "--http-port", "0", "--data-directory", folder, "--log-level", "error"]
        super().__init__(command + list(settings), ALL_CORES, stdout=subprocess.PIPE, text=True)
        line = next(line for line in self.process.stdout if line.startswith("sandbox on "))
        host = line.split("//")[1].split("/")[0]
        self.base = _address(self.process)
        wait_for(self.base + "/health/live")
        self.start = time.monotonic() - begin
        self.controls = http.client.HTTPConnection(host, timeout=60)

    def control(self, method, path, body=None):
        """Sends a request on the one connection, and gives its milliseconds and its response."""
        begin = time.monotonic()
        self.controls.request(method, f"/_harness{path}", body and json.dumps(body).encode())
        response = self.controls.getresponse()
        text = response.read()
        spent = (time.monotonic() - begin) * 1e3
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text[:300]!r}")
        return spent, json.loads(text) if text else None


def harness(options, folder):
    """One row for each figure, and what it is at most to be."""
    print("\n| | median | greatest | aim | of the aim |\n|---|---|---|---|---|")
    _resets(options, folder)
    _spaces(options, folder)
    _snapshots(options, folder)


def _row(title, values, aim, unit, value=None):
    """`value` is what the aim is for: the median unless it is given."""
    value = statistics.median(values) if value is None else value
    print(f"| {title} | {statistics.median(values):.1f} {unit} | {max(values):.1f} {unit} | {aim:.1f} {unit} | {value / aim:.2f} |", flush=True)


def _resets(options, folder):
    """HARN-02: a hundred resets beside ten restarts, each with a new data directory, as a test without resets has them."""
    restarts = []
    for number in range(RESTARTS):
        data = f"{folder}/restart-{number}"
        larder = Tested(options.larder, data)
        begin = time.monotonic()
        larder.stop()
        shutil.rmtree(data)
        restarts.append(larder.start * 1e3 + (time.monotonic() - begin) * 1e3)
    larder = Tested(options.larder, f"{folder}/resets")
    larder.control("POST", "/reset")
    resets = [larder.control("POST", "/reset")[0] for _ in range(RESETS)]
    larder.stop()
    _row(f"{RESTARTS} restarts, each", restarts, statistics.mean(restarts), "ms")
    _row(f"{RESETS} resets in a row, each; in all less than the restarts", resets, sum(restarts) / RESETS, "ms", statistics.mean(resets))


def _spaces(options, folder):
    """HARN-07: 32 spaces at once, each in use."""
    larder = Tested(options.larder, f"{folder}/spaces")
    first = larder.control("POST", "/spaces", {})[0]
    before, times, spaces = larder.resident_mb(), [], []
    for _ in range(31):
        spent, space = larder.control("POST", "/spaces", {})
        times.append(spent)
        spaces.append(space)
        wait_for(space["url"].rstrip("/") + "/v1/shop/search")
    _row("first space", [first], 100, "ms")
    _row("31 further spaces, each", times, 100, "ms", max(times))
    _row("memory of each of them, in use", [(larder.resident_mb() - before) / len(spaces)], 10, "MiB")
    _row("end of a space", [larder.control("DELETE", f"/spaces/{space['name']}")[0] for space in spaces], 100, "ms", 0)
    larder.stop()


def _snapshots(options, folder):
    """HARN-16 and HARN-18: a seed of a thousand notes, its snapshot, and the way back."""
    larder = Tested(options.larder, f"{folder}/snapshots")
    seed = {"accounts": [{"app": "notes", "name": "anna", "token": "t-anna"}],
            "notes": [{"account": "anna", "body": f"note {number}, с текстом"} for number in range(NOTES)]}
    seeds, saves, restores = [], [], []
    for _ in range(5):
        larder.control("POST", "/reset")
        seeds.append(larder.control("PUT", "/seed", seed)[0])
        saves.append(larder.control("PUT", "/snapshots/base")[0])
        restores += [larder.control("POST", "/snapshots/base/restore")[0] for _ in range(4)]
    body = wait_for(larder.base + "/v1/notes", {"Authorization": "Bearer t-anna"})[0]
    if b"note 999" not in body:
        raise SystemExit("the restored notes are not there")
    _row(f"seed of {NOTES} notes", seeds, 1_000, "ms", max(seeds))
    _row("snapshot of them", saves, 100, "ms", max(saves))
    _row("restore of them", restores, 100, "ms", max(restores))
    larder.stop()
