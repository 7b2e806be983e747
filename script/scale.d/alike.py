"""Alike processes behind deploy/haproxy/alike.cfg: what clients notice if one of them is killed or stopped."""
import http.client, os, signal, threading, time

from cluster import Cluster, check, free_port, request, wait

SCREENS = ["/v1/shop/launch", "/v1/ships/launch", "/v1/pdf/launch", "/v1/upstreams/spacex/v4/ships"]


class Load:
    """Clients that read public screens, each on a connection of its own, until they are ended."""

    def __init__(self, port, clients=16):
        self.port, self.served, self.failed, self.ends = port, 0, [], False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._read, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def _read(self, number):
        connection, count = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60), 0
        while not self.ends:
            # Affinity goes by the profile: each client has some.
            profile = f"client-{number}-{count % 20}"
            try:
                connection.request("GET", SCREENS[count % len(SCREENS)], headers={"Host": "localhost", "Larder-Profile": profile})
                response = connection.getresponse()
                body = response.read()
                outcome = 200 if response.status == 200 else f"{response.status} {body[:100]}"
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                outcome = repr(error)
            count += 1
            with self.lock:
                if outcome == 200:
                    self.served += 1
                else:
                    self.failed.append(outcome)

    def more(self, count):
        """Waits until so many more requests were served."""
        goal = self.served + count
        wait(f"{count} more responses", lambda: self.served >= goal)

    def end(self):
        self.ends = True
        for thread in self.threads:
            thread.join()


def by_node(front, clients=60):
    """Which process each of many profiles reaches, twice."""
    def node(number):
        return [request(front, "GET", "/v1/status", {"Larder-Profile": f"p{number}"})[1].split(b'"name":"n', 1)[1][:1] for _ in range(2)]
    return [node(number) for number in range(clients)]


def alike(options):
    for balance in ["affinity", "turns"]:
        with Cluster(options) as cluster:
            settings = cluster.upstreams()
            ports = {name: cluster.larder(name, *settings) for name in ["n1", "n2", "n3"]}
            front = free_port()
            cluster.haproxy("alike.cfg", {**{f"LARDER_{name.upper()}": f"127.0.0.1:{port}" for name, port in ports.items()},
                                          "LARDER_FRONT": f"127.0.0.1:{front}", "LARDER_BALANCE": balance})
            for path in SCREENS:
                wait(path, lambda: request(front, "GET", path)[0] == 200)
            tried(cluster, front, ports, balance, settings)


def tried(cluster, front, ports, balance, settings):
    wait("all three processes", lambda: len({name for pair in by_node(front) for name in pair}) == 3)
    same = all(first == second for first, second in by_node(front))
    check(f"{balance}: a profile {'stays with its process' if balance == 'affinity' else 'moves'}", same == (balance == "affinity"))
    load = Load(front)
    try:
        load.more(500)
        cluster.kill("n1")
        load.more(1000)
        cluster.larder("n1", *settings, port=ports["n1"])
        load.more(500)
        process = cluster.processes.pop("n2")
        process.send_signal(signal.SIGTERM)
        load.more(1000)
        check(f"{balance}: a process that is stopped ends with 0", process.wait(60) == 0)
    finally:
        load.end()
    check(f"SCALE-07 {balance}: of {load.served} reads none failed while a process was killed and another stopped: {load.failed[:5]}",
          load.failed == [] and load.served >= 3000)
    event_streams(front, [ports["n1"], ports["n3"]])


def listeners(ports):
    """How many listeners the processes have, those that end among them."""
    metrics = [request(port, "GET", "/metrics")[1].decode() for port in ports]
    return sum(int(float(line.split()[-1])) for text in metrics for line in text.splitlines()
               if line.startswith("larder_event_listeners "))


def event_streams(front, ports):
    streams = []
    for number in range(20):
        connection = http.client.HTTPConnection("127.0.0.1", front, timeout=60)
        connection.request("GET", "/v1/events?app=ships", headers={"Host": "localhost", "Larder-Profile": f"p{number}"})
        streams.append((connection, connection.getresponse()))
    check("event streams go through", all(response.status == 200 for _, response in streams))
    check("each is a listener of a process", listeners(ports) == len(streams))
    for connection, response in streams:
        response.close()
        connection.close()
    begin = time.monotonic()
    wait("the end of listeners that are gone", lambda: listeners(ports) == 0)
    seconds = time.monotonic() - begin
    check(f"listeners that are gone end by a heartbeat, within 15 s ({seconds:.1f} s)", seconds < 16)
