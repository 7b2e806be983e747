"""Larder, and the sandbox that stands for its upstreams, each as a process of its own."""
import json, subprocess, time, urllib.request

from processes import CLIENT_CORE, SERVER_CORE, Server, wait_for


def call(method, url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"} | (headers or {}))
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def _address(process):
    """Where a process listens, which is the last line that it prints when it starts."""
    return next(line.split()[-1] for line in process.stdout if line.startswith("listening on"))


class Sandbox(Server):
    """On the client's core, where it does nothing while answers come from the cache."""

    def __init__(self, path):
        super().__init__([path, "sandbox", "--sandbox-port", "0", "--log-level", "error"], CLIENT_CORE, stdout=subprocess.PIPE, text=True)
        self.base = _address(self.process)

    def fault(self, name, upstream="spacex"):
        call("PUT", f"{self.base}/_sandbox/upstreams/{upstream}/fault", {"fault": name})

    def release(self):
        call("POST", f"{self.base}/_sandbox/upstreams/spacex/release")

    def forget(self):
        call("DELETE", f"{self.base}/_sandbox/journal")

    def requests(self, path):
        """How many requests for paths that begin so have arrived since."""
        return len(call("GET", f"{self.base}/_sandbox/journal?path={path}")["entries"])


class Larder(Server):
    def __init__(self, path, folder, sandbox, *settings, core=SERVER_CORE):
        begin = time.monotonic()
        super().__init__(
            [path, "serve", "--http-port", "0", "--data-directory", folder, "--log-level", "error", "--http-connections", "4096",
             "--upstreams-spacex-url", f"{sandbox.base}/spacex", "--upstreams-catalogue-url", f"{sandbox.base}/catalogue", "--ships-login-delay-ms", "0", "--freshness-ships-s", "3600", *settings],
            core, stdout=subprocess.PIPE, text=True)
        self.base = _address(self.process)
        wait_for(self.base + "/health/live")
        self.start = time.monotonic() - begin

    def guest(self):
        """The fields of a request of a new guest."""
        token = call("POST", f"{self.base}/v1/ships/session", {"mode": "guest"})["data"]["token"]
        return {"Authorization": f"Bearer {token}"}
