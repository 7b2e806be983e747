"""What the parts of check-scale share: processes that end with the check, requests, waits, verdicts."""
import http.client, json, os, shutil, signal, socket, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def free_port(address="127.0.0.1"):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


def request(port, method, path, headers={}, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body=body, headers={"Host": "localhost", **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def wait(what, condition, seconds=60):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)
    sys.exit(f"check-scale: {what} did not happen within {seconds} s")


def check(what, holds):
    print(("ok   " if holds else "FAIL ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


def program(name, package, places="/usr/sbin"):
    """The path of a program, which is not always in one of a user's folders."""
    found = shutil.which(name) or shutil.which(name, path=places)
    return found or sys.exit(f"{name} is missing: apt-get install --no-install-recommends {package}")


class Cluster:
    """Processes that share a temporary folder and a log, which is shown if the check fails, and end with the value."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="larder-scale-")
        os.chmod(self.folder, 0o755)  # PostgreSQL and nginx's workers are other users.
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.processes = {}

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for process in reversed(self.processes.values()):
            self._end(process)
        self.log.close()
        if kind:
            with open(self.log.name, errors="replace") as lines:
                print(*lines.readlines()[-40:], sep="", file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, process, signal_number=signal.SIGKILL):
        try:
            # Each leads a group of its own: workers and children end with it.
            os.killpg(process.pid, signal_number)
        except ProcessLookupError:
            pass
        process.wait()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, name, arguments, output=None, **settings):
        output = output or self.log
        process = subprocess.Popen(arguments, stdout=output, stderr=output, start_new_session=True, **settings)
        self.processes[name] = process
        return process

    def stop(self, name, signal_number=signal.SIGTERM, seconds=20):
        """Ends a process in order, at the latest after some seconds."""
        process = self.processes.pop(name)
        process.send_signal(signal_number)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        self._end(process)

    def kill(self, name):
        """Ends a process and its children as a crash does."""
        self._end(self.processes.pop(name))

    def _runs(self, name):
        return self.processes[name].poll() is None or sys.exit(f"{name} did not start")

    def larder(self, name, *settings, port=None):
        """Starts a server, waits until it is ready, and returns its port."""
        port = port or free_port()
        self.start(name, [self.options.larder, "serve", "--node-name", name, "--http-port", str(port), "--http-trusted-proxies",
                          "127.0.0.1", "--notes-scrypt-logarithm", "10", "--data-directory", self.path(name), *settings])
        wait(f"the start of {name}", lambda: self._runs(name) and request(port, "GET", "/health/ready")[0] == 200)
        return port

    def sandbox(self):
        """Starts the simulated upstreams alone, and returns their port."""
        port = free_port()
        self.start("sandbox", [self.options.larder, "sandbox", "--sandbox-port", str(port)])
        wait("the start of the sandbox", lambda: self._runs("sandbox") and request(port, "GET", "/_sandbox")[0] == 200)
        return port

    def upstreams(self):
        """Starts the simulated upstreams, whose controls are at `controls`, and returns the settings of servers that use them."""
        port = self.sandbox()
        self.controls = f"http://127.0.0.1:{port}/_sandbox"
        return [f"--upstreams-{name}-url=http://127.0.0.1:{port}{path}" for name, path in
                {"yandex-disk": "/yandex_disk", "yandex-oauth": "/yandex_oauth", "spacex": "/spacex", "catalogue": "/catalogue",
                 "people": "/people", "geocoder": "/geocoder"}.items()]

    def key(self):
        """Makes the key of secrets in the shared store, and returns the setting that names its file."""
        path = os.path.join(self.folder, "store.key")
        if not os.path.exists(path):
            with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(os.urandom(32))
        return [f"--store-key-file={path}"]

    def haproxy(self, configuration, addresses, name="haproxy"):
        """Starts HAProxy with a file of deploy/haproxy and its variables."""
        self.start(name, [program("haproxy", "haproxy"), "-db", "-f", os.path.join(ROOT, "deploy/haproxy", configuration)],
                   env={**os.environ, "LARDER_ADMIN": self.path(f"{name}.sock"), **addresses})


def json_of(port, path, headers={}):
    return json.loads(request(port, "GET", path, headers)[1])
