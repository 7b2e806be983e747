#!/usr/bin/env python3
"""A small cluster on this machine: deploy/haproxy before two or three nodes, and a PostgreSQL of its own.

script/server --nodes 3 builds Larder and calls this; all of it is in a temporary folder, and ends with this process.
"""
import argparse, os, signal, socket, sys, time

sys.dont_write_bytecode = True
from cluster import Cluster, free_port, program, request, wait
from postgres import programs, server

MOST = 3  # deploy/haproxy/alike.cfg names so many.


def ends(number, frame):
    raise KeyboardInterrupt


def is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def run(options, settings):
    front = options.http_port or free_port()
    if not is_free(front):
        sys.exit(f"port {front} is in use: --http-port names another one")
    with Cluster(options) as cluster:
        try:
            settings = [*(cluster.upstreams() if options.sandbox else []), *cluster.key(), *settings]
            os.environ["LARDER_STORE_URL"], _ = server(cluster, host="")  # Not an argument, which other users see.
            ports = {f"n{number}": cluster.larder(f"n{number}", *settings) for number in range(1, options.nodes + 1)}
            proxy(cluster, front, ports)
            show(cluster, front, ports)
            watch(cluster, list(ports))
        except KeyboardInterrupt:
            print("ending", flush=True)
        finally:
            for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
                signal.signal(number, signal.SIG_IGN)
            for name in reversed(list(cluster.processes)):
                cluster.stop(name, signal.SIGINT if name == "postgres" else signal.SIGTERM)


def proxy(cluster, front, ports):
    nodes = {f"LARDER_N{number}": f"127.0.0.1:{ports.get(f'n{number}', 1)}" for number in range(1, MOST + 1)}
    cluster.haproxy("alike.cfg", {**nodes, "LARDER_FRONT": f"127.0.0.1:{front}"})
    wait("HAProxy", lambda: request(front, "GET", "/health/ready")[0] == 200)


def show(cluster, front, ports):
    for name, port in ports.items():
        print(f"{name} on http://127.0.0.1:{port}, process {cluster.processes[name].pid}")
    print(f"log: {cluster.log.name}")
    print(f"listening on http://127.0.0.1:{front}; its pages: http://larder.localhost:{front}")
    print("Stop a node (kill -9): the address goes on. Ctrl-C ends all of it and removes its data.", flush=True)


def watch(cluster, nodes):
    """Waits until there is nothing left to reach."""
    while True:
        time.sleep(0.5)
        for name in [name for name, process in cluster.processes.items() if process.poll() is not None]:
            print(f"{name} has ended", flush=True)
            cluster.kill(name)
            if name not in nodes:
                raise SystemExit(f"without {name} nothing goes on")
        if not any(name in cluster.processes for name in nodes):
            raise SystemExit("no node is left")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--larder", help="the executable; without it, only looks for the programs that are needed")
    parser.add_argument("--nodes", type=int, choices=range(2, MOST + 1), default=MOST)
    parser.add_argument("--sandbox", action="store_true")
    parser.add_argument("--http-port", type=int, default=8080)
    options, settings = parser.parse_known_args()
    program("haproxy", "haproxy")
    programs()
    if options.larder:
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, ends)
        run(options, settings)


if __name__ == "__main__":
    main()
