"""A large body on its way through a mount, down and up, beside nginx: throughput, processor time, memory. And what many uploads take that do not get on."""
import http.server, select, socket, statistics, subprocess, threading, time

from larder import Larder
from processes import Server, free_port, wait_for

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
        buffer = memoryview(bytearray(1 << 20))
        while rest > 0:
            rest -= self.rfile.readinto(buffer[:min(rest, 1 << 20)])
        self._answer(0)

    def _answer(self, length):
        self.send_response(200)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *_):
        pass


class Nginx(Server):
    """Passes on without files in between, as a mount does."""

    def __init__(self, folder, origin):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        with open(f"{folder}/streaming.conf", "w") as f:
            f.write(f"""
            worker_processes 1; daemon off; pid {folder}/streaming.pid; error_log {folder}/streaming.log;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
                fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                server {{
                    listen 127.0.0.1:{port};
                    location / {{
                        proxy_pass {origin}; proxy_http_version 1.1; proxy_request_buffering off; client_max_body_size 0;
                        proxy_max_temp_file_size 0;
                    }}
                }}
            }}""")
        super().__init__(["nginx", "-c", f"{folder}/streaming.conf", "-p", folder])
        wait_for(f"{self.base}/0")


def _measure(server, arguments, url, megabytes):
    """Sends one body; returns MB/s and the server's processor time in seconds for each GB."""
    before = server.cpu_seconds()
    command = ["taskset", "-c", "1", "curl", "-sf", "-w", "%{size_download} %{size_upload} %{time_total}", *arguments, url]
    *sizes, seconds = map(float, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert sum(sizes) == megabytes << 20, sizes
    return megabytes / seconds, (server.cpu_seconds() - before) * 1024 / megabytes


def _held(executable, folder, sandbox, uploads=64):
    """Uploads to an upstream that accepts connections and reads nothing: what of them waits in the server's memory?"""
    with socket.create_server(("127.0.0.1", 0), backlog=uploads) as origin:
        larder = Larder(executable, f"{folder}/streaming-held", sandbox, "--upstreams-big-url", f"http://127.0.0.1:{origin.getsockname()[1]}",
                        "--upstreams-big-methods", "PUT", "--upstreams-big-total-timeout-ms", "120000")
        before, sent, clients = larder.resident_mb(), 0, []
        head = f"PUT /v1/upstreams/big/held HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 30}\r\n\r\n".encode()
        for _ in range(uploads):
            client = socket.create_connection(("127.0.0.1", int(larder.base.rsplit(":", 1)[1])))
            client.sendall(head)
            client.setblocking(False)
            clients.append(client)
        last = time.monotonic()
        while time.monotonic() - last < 2:  # Until no client has been able to send for so long.
            for client in select.select([], clients, [], 0.1)[1]:
                sent, last = sent + client.send(PIECE), time.monotonic()
        print(f"{uploads} uploads that do not get on: {sent >> 20} MB sent, larder {larder.resident_mb():.0f} MB resident, {before:.0f} MB before")
        for client in clients:
            client.close()
        larder.stop()


def streaming(executable, folder, sandbox, megabytes=1024, rounds=3):
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{origin.server_port}"
    large = f"{folder}/large"
    with open(large, "wb") as f:
        f.truncate(megabytes << 20)
    print()
    nginx = Nginx(folder, address)
    for way, arguments in (("down", ["-o", "/dev/null"]), ("up", ["-T", large, "-o", f"{folder}/answer"])):
        larder = Larder(executable, f"{folder}/streaming-{way}", sandbox, "--upstreams-big-url", address,
                        "--upstreams-big-methods", "GET,PUT", "--upstreams-big-total-timeout-ms", "120000")
        idle = larder.resident_mb()
        seen = {"larder": [], "nginx": []}
        for _ in range(rounds):
            seen["larder"].append(_measure(larder, arguments, f"{larder.base}/v1/upstreams/big/{megabytes}", megabytes))
            seen["nginx"].append(_measure(nginx, arguments, f"{nginx.base}/{megabytes}", megabytes))
        (speed, cost), (other_speed, other_cost) = ([statistics.median(figure) for figure in zip(*of)] for of in seen.values())
        print(f"{megabytes} MB {way}: larder {speed:.0f} MB/s, {cost:.2f} s of CPU for a GB; nginx {other_speed:.0f} MB/s, {other_cost:.2f} s; "
              f"ratios {speed / other_speed:.2f} and {cost / max(other_cost, 0.01):.2f}; "
              f"larder {larder.resident_mb(peak=True):.0f} MB resident at the peak, {idle:.0f} MB before")
        larder.stop()
    nginx.stop()
    origin.shutdown()
    _held(executable, folder, sandbox)
