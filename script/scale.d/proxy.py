"""A client's walk through all screens of two nodes on one PostgreSQL, behind deploy/haproxy/alike.cfg in both its forms."""
import os, subprocess, sys

from cluster import ROOT, Cluster, check, free_port, request, wait
from postgres import server


def proxy(options):
    for balance, kept in [("affinity", "1000"), ("turns", "0")]:
        with Cluster(options) as cluster:
            address, _ = server(cluster, host="")
            settings = [*cluster.upstreams(), *cluster.key(), "--store-url", address, "--store-kept-ms", kept]
            ports = [cluster.larder(name, *settings) for name in ["n1", "n2"]]
            front = free_port()
            nodes = {f"LARDER_N{number}": f"127.0.0.1:{port}" for number, port in enumerate([*ports, 1], 1)}
            cluster.haproxy("alike.cfg", {**nodes, "LARDER_FRONT": f"127.0.0.1:{front}", "LARDER_BALANCE": balance})
            wait("HAProxy", lambda: request(front, "GET", "/health/ready")[0] == 200)
            walked = subprocess.run([clients(), "-B", os.path.join(ROOT, "Tests/Clients/check.py"), "--base",
                                     f"http://127.0.0.1:{front}", "--controls", cluster.controls], capture_output=True, text=True)
            seen = (walked.stdout + walked.stderr).strip()[-2000:]
            check(f"SCALE-02 {balance}, store.kept_ms {kept}, a walk through all screens of all apps: {seen}",
                  walked.returncode == 0)
            asked = [requests(port) for port in ports]
            check(f"both nodes served it: {asked}", balance == "affinity" or min(asked) > 20)


def requests(port):
    """How many requests a node has served."""
    lines = request(port, "GET", "/metrics")[1].decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("larder_http_requests_total"))


def clients():
    """A Python with the packages of script/test-clients."""
    python = os.environ.get("CLIENTS_PYTHON", os.path.join(ROOT, ".build/clients/bin/python"))
    return python if os.path.exists(python) else sys.exit(f"{python} is missing: script/test-clients makes it")
