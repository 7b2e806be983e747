"""Processes under test: where they listen, what they use."""
import atexit, os, re, socket, subprocess, time, urllib.request

TICK = os.sysconf("SC_CLK_TCK")
SERVER_CORE, CLIENT_CORE = "0", "1"
ALL_CORES = f"0-{os.cpu_count() - 1}"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(url, headers=None):
    """Asks until there is an answer; gives its body and fields."""
    begin = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=10) as answer:
                return answer.read(), answer.headers
        except OSError:
            if time.monotonic() - begin > 20:
                raise
            time.sleep(0.002)


class Server:
    """A process pinned to a core; `base` is where it answers once it has started."""

    def __init__(self, command, core=SERVER_CORE, **options):
        self.process = subprocess.Popen(["taskset", "-c", core, *command], **options)
        atexit.register(self._end)  # A run that fails leaves nothing behind.

    @property
    def pids(self):
        """The process and its children: the workers of nginx and Varnish."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        return [self.process.pid] + [int(child) for child in children]

    def cpu_seconds(self):
        return sum(self._of_each("stat", lambda text: sum(map(int, text.rsplit(")", 1)[1].split()[11:13])))) / TICK

    def thread_seconds(self):
        """The same of the process alone, to the nanosecond, of threads that have not ended."""
        folder = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{folder}/{thread}/schedstat").read().split()[0]) for thread in os.listdir(folder)) / 1e9

    def resident_mb(self, peak=False):
        field = "VmHWM" if peak else "VmRSS"
        return sum(self._of_each("status", lambda text: int(re.search(rf"{field}:\s+(\d+)", text).group(1)))) / 1024

    def _of_each(self, file, value):
        for pid in self.pids:
            try:
                with open(f"/proc/{pid}/{file}") as f:
                    yield value(f.read())
            except FileNotFoundError:
                pass  # nginx's cache loader ends by itself.

    def _end(self):
        if self.process.poll() is None:
            self.process.terminate()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
