"""Two processes behind deploy/haproxy/alike.cfg: one of them cannot reach PostgreSQL any more, then neither can."""
import re, socket, threading, time

from cluster import Cluster, check, free_port, request, wait
from postgres import server
from shared import ask, opened


class Relay:
    """Passes connections on to a port, until it is cut."""

    def __init__(self, target):
        self.target, self.is_cut, self.sockets = target, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self.listener.accept()
            if self.is_cut:
                client.close()
                continue
            upstream = socket.create_connection(("127.0.0.1", self.target))
            self.sockets += [client, upstream]
            for pair in [(client, upstream), (upstream, client)]:
                threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in [source, target]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.is_cut = True
        for end in self.sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def alone(options):
    with Cluster(options) as cluster:
        address, start = server(cluster)
        relay = Relay(int(re.search(r"127\.0\.0\.1:(\d+)", address)[1]))
        settings = ["--sandbox", "--node-apps", "notes", "--store-url"]
        ports = [cluster.larder("n1", *settings, address),
                 cluster.larder("n2", *settings, address.replace(f":{relay.target}/", f":{relay.port}/"))]
        front = free_port()
        nodes = {f"LARDER_N{number}": f"127.0.0.1:{port}" for number, port in enumerate([*ports, 1], 1)}
        cluster.haproxy("alike.cfg", {**nodes, "LARDER_FRONT": f"127.0.0.1:{front}"})
        wait("HAProxy", lambda: request(front, "GET", "/health/ready")[0] == 200)
        tokens = [opened(front, "register", f"user{number}")[1]["data"]["token"] for number in range(12)]

        def statuses(method="POST", body={"body": "note"}):
            return [ask(front, method, "/v1/notes", token, body)[0] for token in tokens]

        check("changes at both", statuses() == [201] * 12)
        relay.cut()
        begin = time.monotonic()
        wait("changes at the process that reaches the store", lambda: statuses() == [201] * 12)
        late = time.monotonic() - begin
        check(f"SCALE-23 after {late:.1f} s no change meets the process that alone does not reach it", late < 20)
        check("it is ready apart from that", [request(ports[1], "GET", f"/health/ready{query}")[0] for query in ["", "?store=1"]] == [200, 503])
        check("and all go on", all(statuses() == [201] * 12 for _ in range(5)))
        cluster.kill("postgres")
        wait("screens as they were", lambda: statuses("GET", None) == [200] * 12)
        check("SCALE-23 if none reaches it, all show users' data as it was",
              all(statuses("GET", None) == [200] * 12 for _ in range(5)) and set(statuses()) == {503})
        start()
        wait("changes without a restart", lambda: statuses() == [201] * 12)
        check("the store is back", True)
