"""Two processes that serve notes from one PostgreSQL: what a user sees at the other one, and while one or the store is away."""
import http.client, json, threading, time
from concurrent.futures import ThreadPoolExecutor

from cluster import Cluster, check, request, wait
from postgres import server

KEPT = 1.0  # store.kept_ms


def ask(port, method, path, token=None, body=None, **fields):
    headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **fields}
    if body is not None:
        headers["Content-Type"] = "application/json"
    status, data = request(port, method, path, headers, json.dumps(body) if body is not None else None)
    return status, json.loads(data) if data else {}


def opened(port, mode, name, password="secret"):
    return ask(port, "POST", "/v1/notes/session", body={"mode": mode, "username": name, "password": password})


class Listener(threading.Thread):
    """The kinds and data of the events that a client hears, with their times."""

    def __init__(self, port, token):
        super().__init__(daemon=True)
        self.heard = []
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.request("GET", "/v1/events?app=notes", headers={"Host": "localhost", "Authorization": f"Bearer {token}"})
        self.response = self.connection.getresponse()
        self.start()

    def run(self):
        kind = None
        try:
            while line := self.response.readline():
                name, _, value = line.decode().strip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    self.heard.append((kind, json.loads(value), time.monotonic()))
        except (OSError, http.client.HTTPException, ValueError):
            pass

    def kinds(self):
        return [kind for kind, _, _ in self.heard]


def shared(options):
    with Cluster(options) as cluster:
        address, start = server(cluster)
        settings = ["--sandbox", "--node-apps", "notes", "--store-url", address]
        ports = [cluster.larder(name, *settings) for name in ["n1", "n2"]]
        sessions(*ports)
        names(*ports)
        events(*ports)
        versions(*ports)
        passwords(*ports)
        store_away(cluster, start, *ports)
        node_killed(cluster, settings, *ports)


def sessions(one, two):
    token = opened(one, "register", "bob")[1]["data"]["token"]
    check("SCALE-03 a session is known on the other process with the next request", ask(two, "GET", "/v1/notes", token)[0] == 200)
    for _ in range(20):
        ask(two, "GET", "/v1/notes", token)  # The response is kept there now.
    check("a logout", ask(one, "DELETE", "/v1/notes/session", token)[0] == 200)
    time.sleep(KEPT)
    check("SCALE-03 logged out on one, it is 401 on the other within a second", ask(two, "GET", "/v1/notes", token)[0] == 401)


def names(one, two):
    with ThreadPoolExecutor(20) as pool:
        found = sorted(status for status, _ in pool.map(lambda number: opened([one, two][number % 2], "register", "eve"), range(20)))
    check(f"SCALE-05 of 20 registrations of one name on two processes one is made: {found}", found == [201] + [409] * 19)


def events(one, two):
    ann, tom = (opened(port, "register", name)[1]["data"]["token"] for port, name in [(one, "ann"), (two, "tom")])
    listener, other = Listener(two, ann), Listener(two, tom)
    begin = time.monotonic()
    check("a note", ask(one, "POST", "/v1/notes", ann, {"body": "of ann"})[0] == 201)
    wait("the event", lambda: "screen-changed" in listener.kinds())
    late = next(at for kind, _, at in listener.heard if kind == "screen-changed") - begin
    check(f"SCALE-10 a change is heard on the other process within a second ({late:.2f} s)", late < 1)
    check("SCALE-10 others do not hear it", "screen-changed" not in other.kinds())
    status, page = ask(two, "GET", "/v1/notes", ann)
    check("what has changed is shown there", status == 200 and page["meta"]["page"]["total"] == 1)
    identity = f"{listener.response.getheader('X-Request-Id').split('-')[0]}-1"
    connection = http.client.HTTPConnection("127.0.0.1", one, timeout=60)
    connection.request("GET", "/v1/events?app=notes", headers={"Host": "localhost", "Last-Event-ID": identity})
    lines = connection.getresponse()
    text = "".join(lines.readline().decode() for _ in range(4))
    connection.close()
    check("SCALE-10 a client that changes processes gets reset", "event: reset" in text)


def versions(one, two):
    token = opened(one, "register", "joe")[1]["data"]["token"]
    note = ask(one, "POST", "/v1/notes", token, {"body": "first"})[1]["data"]
    path, ports = f"/v1/notes/{note['id']}", [one, two]
    connection = http.client.HTTPConnection("127.0.0.1", one, timeout=60)
    connection.request("GET", path, headers={"Host": "localhost", "Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    response.read()
    tag = response.getheader("ETag").removeprefix("W/")
    with ThreadPoolExecutor(10) as pool:
        found = sorted(pool.map(lambda number: ask(ports[number % 2], "PATCH", path, token, {"body": f"{number}"}, **{"If-Match": tag})[0], range(10)))
        check(f"SCALE-15 of ten changes with one version on two processes one is made: {found}", found == [200] + [412] * 9)
        found = list(pool.map(lambda number: ask(ports[number % 2], "PATCH", path, token, {"body": f"{number}"})[0], range(10)))
    revision = ask(two, "GET", path, token)[1]["data"]["version"]
    check(f"SCALE-15 without one all are made, one after the other (version {revision})", found == [200] * 10 and revision == 12)


def passwords(one, two):
    opened(one, "register", "max")
    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(lambda number: opened([one, two][number % 2], "login", "max", "wrong password")[0], range(10)))
    check(f"ten wrong passwords over two processes: {found}", found == [401] * 10)
    check("SCALE-12 the eleventh is 429 on both", [opened(port, "login", "max", "wrong password")[0] for port in [one, two]] == [429, 429])


def away(port, token):
    """Whether the notes say that the store does not respond."""
    status, page = ask(port, "GET", "/v1/notes", token)
    return status != 200 or (page["meta"].get("banner") or {}).get("code") == "store-unavailable"


def store_away(cluster, start, one, two):
    token = opened(one, "login", "ann")[1]["data"]["token"]
    listener = Listener(two, token)
    for _ in range(20):
        ask(two, "GET", "/v1/notes", token)
    cluster.kill("postgres")
    time.sleep(KEPT)
    for port in [one, two]:
        wait("screens as they were", lambda: away(port, token))
        status, page = ask(port, "GET", "/v1/notes", token)
        check("SCALE-23 without the store notes are shown as they were, stale, with a banner",
              status == 200 and page["meta"]["stale"] and len(page["data"]["items"]) == 1)
        status, problem = ask(port, "POST", "/v1/notes", token, {"body": "lost"})
        check(f"a change is refused: {status}", (status, problem.get("code")) == (503, "store-unavailable"))
        check("screens without a session go on", ask(port, "GET", "/v1/notes/cities?bbox=0,40,20,60")[0] == 200)
    start()
    wait("the screens of users", lambda: not away(one, token) and not away(two, token))
    wait("reset on the stream that stayed open", lambda: "reset" in listener.kinds())
    check("SCALE-09 the store is back without a restart, and listeners know that they may have missed something", True)
    check("another note", ask(one, "POST", "/v1/notes", token, {"body": "second of ann"})[0] == 201)
    wait("its event", lambda: "screen-changed" in listener.kinds())
    check("SCALE-09 messages are heard again", True)


def node_killed(cluster, settings, one, two):
    token = opened(two, "register", "pat")[1]["data"]["token"]
    made, ends = [], threading.Event()

    def write():
        while not ends.is_set():
            try:
                status, note = ask(one, "POST", "/v1/notes", token, {"body": f"note {len(made)}"})
                if status == 201:
                    made.append(note["data"]["id"])
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    wait("100 notes", lambda: len(made) >= 100)
    cluster.kill("n1")
    ends.set()
    for writer in writers:
        writer.join()
    missing = [number for number in made if ask(two, "GET", f"/v1/notes/{number}", token)[0] != 200]
    check(f"SCALE-07 of {len(made)} notes that a killed process had acknowledged none is missing: {missing}", missing == [])
