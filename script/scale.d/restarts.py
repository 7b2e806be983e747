"""Three processes behind deploy/haproxy/alike.cfg are restarted in turn, as docs/scale.md says, while clients change notes."""
import http.client, signal, socket, threading, time

from cluster import Cluster, check, free_port, request, wait
from postgres import server
from shared import ask, opened

NAMES = ["n1", "n2", "n3"]


class Changes:
    """Clients that make notes, each on a connection of its own: the acknowledged ones and the failures."""

    def __init__(self, port, tokens):
        self.made, self.failed, self.ends = [], [], threading.Event()
        self.threads = [threading.Thread(target=self._make, args=(port, token, number)) for number, token in enumerate(tokens)]
        for thread in self.threads:
            thread.start()

    def _make(self, port, token, client):
        connection, count = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0
        while not self.ends.is_set():
            text, count = f"{client}-{count}", count + 1
            try:
                connection.request("POST", "/v1/notes", '{"body": "%s"}' % text, {
                    "Host": "localhost", "Authorization": f"Bearer {token}", "Content-Type": "application/json"})
                response = connection.getresponse()
                body = response.read()
                if response.status == 201:
                    self.made.append((token, text))
                else:
                    self.failed.append(f"{response.status} {body[:100]}")
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.failed.append(repr(error))

    def more(self, count):
        goal = len(self.made) + count
        wait(f"{count} more notes", lambda: len(self.made) >= goal)

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def administer(cluster, name, state):
    for backend in ["affinity", "turns", "away"]:
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(cluster.path("haproxy.sock"))
            admin.sendall(f"set server {backend}/{name} state {state}\n".encode())
            while admin.recv(1000):
                pass


def notes_of(port, token):
    """The texts of all notes of a session."""
    texts, path = [], "/v1/notes?limit=100"
    while path:
        page = ask(port, "GET", path, token)[1]
        texts += [row["first_line"] for row in page["data"]["items"]]
        path = page["links"].get("next")
    return texts


def restarts(options):
    with Cluster(options) as cluster:
        address, _ = server(cluster)
        settings = ["--sandbox", "--node-apps", "notes", "--store-url", address]
        ports = {name: cluster.larder(name, *settings) for name in NAMES}
        front = free_port()
        cluster.haproxy("alike.cfg", {"LARDER_FRONT": f"127.0.0.1:{front}",
                                      **{f"LARDER_{name.upper()}": f"127.0.0.1:{port}" for name, port in ports.items()}})
        wait("HAProxy", lambda: request(front, "GET", "/health/ready")[0] == 200)
        tokens = [opened(front, "register", f"user{number}")[1]["data"]["token"] for number in range(12)]
        changes = Changes(front, tokens)
        try:
            for name in NAMES * 2:
                changes.more(300)
                administer(cluster, name, "drain")
                time.sleep(2)  # What HAProxy has sent is responded to.
                process = cluster.processes.pop(name)
                process.send_signal(signal.SIGTERM)
                check(f"{name} ends in order", process.wait(60) == 0)
                cluster.larder(name, *settings, port=ports[name])
                administer(cluster, name, "ready")
            changes.more(300)
        finally:
            changes.end()
        check(f"SCALE-26 six restarts: of {len(changes.made)} changes none is without a response: {changes.failed[:5]}", changes.failed == [])
        found = {token: notes_of(ports["n1"], token) for token in tokens}
        for token, text in changes.made:
            found[token].remove(text)
        check("SCALE-26 each is there once, and nothing else", not any(found.values()))
