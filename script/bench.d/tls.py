"""HTTPS: kept answers by HTTP/1.1 and HTTP/2 and handshakes beside nginx with the same certificate, and what an open connection takes."""
import os, re, shutil, socket, ssl, statistics, subprocess, sys

from larder import Larder
from load import Table, measure
from processes import CLIENT_CORE, wait_for
from rivals import Nginx

CONNECTIONS = 1000
STREAMS = 10


def _certificate(larder, folder):
    """An authority of the benchmark's own, which Python trusts from here on."""
    files = f"{folder}/tls"
    subprocess.run([larder, "certificate", files, "--name", "localhost", "--name", "127.0.0.1"], check=True, stdout=subprocess.DEVNULL)
    os.environ["SSL_CERT_FILE"] = f"{files}/authority.crt"
    return f"{files}/server.crt", f"{files}/server.key"


def _held(server):
    """Resident KiB of each connection that is open and has got one answer."""
    context, before = ssl.create_default_context(), server.resident_mb()
    opened = []
    for _ in range(CONNECTIONS):
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", int(server.base.rsplit(":", 1)[1]))), server_hostname="localhost")
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(4096)
        opened.append(connection)
    grown = server.resident_mb() - before
    for connection in opened:
        connection.close()
    return grown * 1024 / CONNECTIONS


def _multiplexed(options, server, path, own, connections):
    """CPU microseconds of a request by HTTP/2, and requests a second, of one round of h2load."""
    command = ["taskset", "-c", CLIENT_CORE, "h2load", f"-c{connections}", f"-m{STREAMS}", f"-D{options.seconds}", server.base + path]
    for name, value in own.items():
        command += ["-H", f"{name}: {value}"]
    before = server.cpu_seconds()
    output = subprocess.run(command, capture_output=True, text=True).stdout
    used = server.cpu_seconds() - before
    failed = re.search(r"(\d+) failed, (\d+) errored", output)
    good = re.search(r"status codes: (\d+) 2xx", output)
    if not good or "Application protocol: h2" not in output or failed.group(0) != "0 failed, 0 errored":
        sys.exit(f"{server.base}{path}: {output}")
    return used / int(good.group(1)) * 1e6, int(good.group(1)) / options.seconds


def _http2(options, servers, title):
    if not shutil.which("h2load"):
        return print("\nHTTP/2 is not measured: apt-get install nghttp2-client")
    for connections in options.connections:
        rounds = [[_multiplexed(options, *server, connections) for server in servers] for _ in range(options.rounds)]
        (own, rate), (other, other_rate) = [[statistics.median(column) for column in zip(*results)] for results in zip(*rounds)]
        print(f"\n{title} by HTTP/2, {connections} connections with {STREAMS} streams: larder {own:.1f} µs of CPU a request and {rate:.0f} a second,"
              f" nginx {other:.1f} µs and {other_rate:.0f}; {own / other:.2f} of nginx's", flush=True)


def tls(options, folder, sandbox, path="/v1/ships"):
    certificate, key = _certificate(options.larder, folder)
    secure = ["--http-tls-certificate", certificate, "--http-tls-key", key]
    larder = Larder(options.larder, f"{folder}/tls-data", sandbox, "--http-connections-per-address", "4096", *secure)
    own = larder.guest()
    for _ in range(3):
        body, _ = wait_for(larder.base + path, own)
    nginx = Nginx(folder, larder.base, own["Authorization"], f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;")
    table = Table(["larder", "nginx"])
    servers = [(larder, path, own), (nginx, path, {})]
    for row in measure(options, servers, f"hot screen by HTTPS, {len(body)} bytes", {}):
        table.row(*row)
    _http2(options, servers, "hot screen")
    for row in measure(options, servers, "a handshake for each", {"Connection": "close"}):
        table.row(*row)
    print(f"\na connection that is open: larder {_held(larder):.0f} KiB, nginx {_held(nginx):.0f} KiB, means of {CONNECTIONS}")
    larder.stop()
    made = Larder(options.larder, f"{folder}/tls-made", sandbox, "--rendered-budget-mb", "0", *secure)
    plain = Larder(options.larder, f"{folder}/plain-made", sandbox, "--rendered-budget-mb", "0")
    made_own, plain_own = made.guest(), plain.guest()
    wait_for(made.base + path, made_own)
    wait_for(plain.base + path, plain_own)
    table = Table(["https", "http"], "clear text")
    for row in measure(options, [(made, path, made_own), (plain, path, plain_own)], "made screen", {}):
        table.row(*row)
    _http2(options, [(made, path, made_own), (nginx, path, {})], "made screen beside nginx's kept one")
    nginx.stop()
    made.stop()
    plain.stop()
