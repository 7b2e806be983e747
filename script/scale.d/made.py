"""What a made screen of users' data costs with PostgreSQL beside one without."""
import json, os, re, statistics, subprocess

from cluster import Cluster, check, program, request
from cost import processor_seconds
from postgres import server

NOTES = 30
SCREENS = ["/v1/notes", "/v1/notes/map?bbox=-180,-85,180,85", "/v1/notes?q=harbour"]


def children(pid):
    """The processes of a server of PostgreSQL: one for each connection, and its own."""
    found = [pid]
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{each}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(each))
    return found


def spent(pids):
    total = 0
    for pid in pids:
        try:
            total += processor_seconds(pid)
        except OSError:
            pass
    return total


def load(ports, path, token, seconds=3):
    """Requests a second of each port, asked at the same time."""
    command = [program("wrk", "wrk", "/usr/bin"), "-t1", "-c16", f"-d{seconds}s", "-H", "Host: localhost",
               "-H", f"Authorization: Bearer {token}"]
    wrks = [subprocess.Popen([*command, f"http://127.0.0.1:{port}{path}"], stdout=subprocess.PIPE, text=True) for port in ports]
    counts = []
    for each in wrks:
        output = each.communicate()[0]
        if wrong := re.search(r"Non-2xx.*|Socket errors.*", output):
            check(f"{path}: {wrong.group(0)}", False)
        counts.append(int(re.search(r"(\d+) requests in", output).group(1)))
    return counts


def member(port):
    """A new account with some notes."""
    body = json.dumps({"mode": "register", "username": "sailor", "password": "secret"})
    status, opened = request(port, "POST", "/v1/notes/session", {"Content-Type": "application/json"}, body)
    check("an account", status == 201)
    token = json.loads(opened)["data"]["token"]
    for number in range(NOTES):
        note = json.dumps({"body": f"note {number} of a harbour", "location": {"lat": number, "lon": 2 * number, "name": "Sea"}})
        status, _ = request(port, "POST", "/v1/notes",
                            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}, note)
        if status != 201:
            check(f"a note: {status}", False)
    return token


def made(options):
    with Cluster(options) as cluster:
        address, _ = server(cluster, host="")
        settings = ["--node-apps", "notes", "--sandbox", "--log-level", "error", "--rendered-budget-mb", "0"]
        shared = [*settings, "--store-url", address]
        alone = cluster.larder("alone", *settings)
        # The first one asks the store as often as the default of store.kept_ms says, the second one for each response.
        ports = [cluster.larder("n1", *shared), cluster.larder("n2", *shared, "--store-kept-ms", "0")]
        tokens = member(alone), member(ports[0])
        pids = {name: cluster.processes[name].pid for name in ("alone", "n1", "n2", "postgres")}

        def cost(name, port, path, token):
            """Seconds of a request in Larder, and in the store."""
            stores = children(pids["postgres"])
            before, store = spent([pids[name]]), spent(stores)
            count = load([port], path, token)[0]
            return (spent([pids[name]]) - before) / count, (spent(stores) - store) / count

        for path in SCREENS:
            rounds = []
            for _ in range(4):
                local, _store = cost("alone", alone, path, tokens[0])
                rounds.append((local, *cost("n1", ports[0], path, tokens[1]), *cost("n2", ports[1], path, tokens[1])))
            # The first round meets servers that are not warm.
            local, *shared_costs = (statistics.median(each) * 1e6 for each in zip(*rounds[1:]))
            print(f"     {path}: µs a request: without store.url {local:.0f}", flush=True)
            for name, (node, store) in (("store.kept_ms 1000", shared_costs[:2]), ("store.kept_ms 0", shared_costs[2:])):
                print(f"         {name}: {node:.0f} of Larder, {store:.0f} of the store; ÷ without {node / local:.2f}, "
                      f"both {(node + store) / local:.2f}", flush=True)
