"""The server under test: the executable with simulated upstreams and a data directory of its own."""
import json, os, ssl, subprocess, urllib.request
from urllib.error import HTTPError

# Of the environment, what begins so is a setting of the server.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("LARDER_")}
# How long a test waits for what should happen: much longer than it takes, since machines that test are slow and busy.
PATIENCE_MS = int(os.environ.get("WEB_PATIENCE_S", 45)) * 1000
# Of servers with HTTPS.
TRUST = ssl.create_default_context()
SETTINGS = {"ships-login-delay-ms": 0, "notes-scrypt-logarithm": 10, "sandbox-seed": 1}
UPSTREAMS = ["yandex-disk", "yandex-oauth", "catalogue", "people", "geocoder", "spacex"]
# What opens a session of an app in the sandbox, and what app it is.
LOGINS = {
    "ships": {"mode": "guest"},
    "disk": {"mode": "oauth_token", "access_token": "sandbox-token"},
    "notes": {"mode": "register", "username": "anna", "password": "correct horse"},
}


class Larder:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, executable, folder, probe_ms=200, sandboxed=True, **settings):
        self.executable = executable
        self.folder = folder
        self.settings = {**SETTINGS, **{name.replace("_", "-"): value for name, value in settings.items()}}
        for name in UPSTREAMS:
            self.settings.setdefault(f"upstreams-{name}-probe-interval-ms", probe_ms)
        self.sandboxed = sandboxed
        # Whether it has been away, so that pages met a refused connection.
        self.restarted = False
        self.process = None
        self.url = self.sandbox = self.pages = None

    def start(self):
        port = self.url.rsplit(":", 1)[1] if self.url else "0"
        command = [self.executable, "serve", "--http-port", port, "--data-directory", f"{self.folder}/data"]
        command += ["--sandbox"] if self.sandboxed else []
        for name, value in self.settings.items():
            command += [f"--{name}", str(value)]
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=ENVIRONMENT)
        for line in self.process.stdout:
            if line.startswith("sandbox on "):
                self.sandbox = line.split()[-1].removesuffix("/_sandbox")
            if line.startswith("pages on "):
                self.pages = line.split()[-1]
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return self
        raise AssertionError(f"the server did not start:\n{self.log()}")

    def stop(self):
        if self.process and self.process.poll() is None:
            # A browser's event stream stays open as long as it may; a test does not wait for it.
            self.process.kill()
            self.process.wait(30)
        if self.process:
            self.process.stdout.close()
        self.process = None
        self.restarted = True

    def log(self):
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as file:
            return file.read()

    def call(self, method, path, body=None, **fields):
        """The decoded response of the server to a request without a browser; its status if it has no JSON."""
        return send(method, self.url + path, body, fields)

    def control(self, method, path, body=None):
        """A control of the sandbox, such as `PUT /upstreams/spacex/fault`."""
        return send(method, f"{self.sandbox}/_sandbox{path}", body)

    def harness(self, method, path, body=None):
        """A control of the server itself, such as `GET /clock`."""
        return send(method, f"{self.sandbox}/_harness{path}", body)

    def fault(self, upstream, fault):
        return self.control("PUT", f"/upstreams/{upstream}/fault", {"fault": fault})

    def journal(self, path, count=1):
        """Waits until that many requests to paths that begin so have arrived upstream."""
        query = f"?path={path}&count={count}&timeout_ms=30000"
        return self.control("GET", f"/journal/wait{query}")["entries"]


def send(method, url, body=None, fields={}):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} if data is not None else {}
    request = urllib.request.Request(url, data, {**headers, **fields}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60, context=TRUST) as response:
            content = response.read()
            return json.loads(content) if b"json" in response.headers.get("Content-Type", "").encode() else content
    except HTTPError as error:
        raise AssertionError(f"{method} {url}: {error.code} {error.read()[:2000]}") from None
