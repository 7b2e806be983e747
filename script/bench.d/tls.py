"""HTTPS: kept answers and handshakes beside nginx with the same certificate, and what an open connection takes."""
import os, socket, ssl, subprocess

from larder import Larder
from load import Table, measure
from processes import wait_for
from rivals import Nginx

CONNECTIONS = 1000


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
    for row in measure(options, servers, "a handshake for each", {"Connection": "close"}):
        table.row(*row)
    print(f"\na connection that is open: larder {_held(larder):.0f} KiB, nginx {_held(nginx):.0f} KiB, means of {CONNECTIONS}")
    nginx.stop()
    larder.stop()
    made = Larder(options.larder, f"{folder}/tls-made", sandbox, "--rendered-budget-mb", "0", *secure)
    plain = Larder(options.larder, f"{folder}/plain-made", sandbox, "--rendered-budget-mb", "0")
    made_own, plain_own = made.guest(), plain.guest()
    wait_for(made.base + path, made_own)
    wait_for(plain.base + path, plain_own)
    table = Table(["https", "http"], "clear text")
    for row in measure(options, [(made, path, made_own), (plain, path, plain_own)], "made screen", {}):
        table.row(*row)
    made.stop()
    plain.stop()
