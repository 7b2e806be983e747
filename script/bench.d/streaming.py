"""How much memory a large body takes on its way through a mount, down and up."""
import http.server, subprocess, threading

from larder import Larder

PIECE = bytes(1 << 20)


class Origin(http.server.BaseHTTPRequestHandler):
    """Has as many megabytes as the path says, and takes whatever comes."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        megabytes = int(self.path.strip("/"))
        self._answer(megabytes << 20)
        for _ in range(megabytes):
            self.wfile.write(PIECE)

    def do_PUT(self):
        rest = int(self.headers["Content-Length"])
        while rest > 0:
            rest -= len(self.rfile.read(min(rest, 1 << 20)))
        self._answer(0)

    def _answer(self, length):
        self.send_response(200)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_):
        pass


def streaming(executable, folder, sandbox, megabytes=1024):
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    large = f"{folder}/large"
    with open(large, "wb") as f:
        f.truncate(megabytes << 20)
    print()
    for way, arguments in (("down", ["-o", "/dev/null"]), ("up", ["-T", large, "-o", f"{folder}/answer"])):
        larder = Larder(executable, f"{folder}/streaming-{way}", sandbox, "--upstreams-big-url", f"http://127.0.0.1:{origin.server_port}",
                        "--upstreams-big-methods", "GET,PUT", "--upstreams-big-total-timeout-ms", "120000")
        idle = larder.resident_mb()
        command = ["curl", "-sf", "-w", "%{size_download} %{size_upload} %{time_total}", *arguments, f"{larder.base}/v1/upstreams/big/{megabytes}"]
        *sizes, seconds = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
        assert sum(sizes) == megabytes << 20, sizes
        print(f"{megabytes} MB {way}: {larder.resident_mb(peak=True):.0f} MB resident at the peak, {idle:.0f} MB before; {megabytes / seconds:.0f} MB/s")
        larder.stop()
    origin.shutdown()
