"""Three members of deploy/patroni, each with its etcd in a network namespace of its own: kills and cuts under load."""
import json, os, subprocess, time, urllib.request

from cluster import ROOT, Cluster, check, program, wait
from postgres import PASSWORD, as_user, create_database, owned, programs
from writer import Writer

MEMBERS = ["a", "b", "c"]
# Seconds until changes are accepted again after a primary was killed (docs/scale.md).
LONGEST = 30


class Network:
    """A bridge, and a namespace with an address for each member."""

    def __init__(self):
        number = os.getpid()
        self.bridge, self.base = f"lrdr{number}", f"10.{200 + number % 50}.{number // 50 % 250}"
        self.front = f"{self.base}.254"
        self._run("link", "add", self.bridge, "type", "bridge")
        self._run("address", "add", f"{self.front}/24", "dev", self.bridge)
        self._run("link", "set", self.bridge, "up")
        for index, member in enumerate(MEMBERS):
            space = self.space(member)
            self._run("netns", "add", space)
            self._run("link", "add", self.cable(member), "type", "veth", "peer", "name", "eth0", "netns", space)
            self._run("link", "set", self.cable(member), "master", self.bridge, "up")
            for command in [f"address add {self.address(member)}/24 dev eth0", "link set eth0 up", "link set lo up"]:
                self._run("-n", space, *command.split())

    def space(self, member):
        return f"{self.bridge}{member}"

    def cable(self, member):
        return f"{self.bridge}v{member}"

    def address(self, member):
        return f"{self.base}.{MEMBERS.index(member) + 1}"

    def inside(self, member):
        return ["ip", "netns", "exec", self.space(member)]

    def processes(self, member):
        return subprocess.run(["ip", "netns", "pids", self.space(member)], capture_output=True, text=True).stdout.split()

    def cut(self, member, state="down"):
        self._run("link", "set", self.cable(member), state)

    def remove(self):
        for member in MEMBERS:
            self.kill(self.processes(member))
            subprocess.run(["ip", "netns", "delete", self.space(member)])
        subprocess.run(["ip", "link", "delete", self.bridge])

    @staticmethod
    def kill(processes):
        for process in processes:
            try:
                os.kill(int(process), 9)
            except ProcessLookupError:
                pass

    @staticmethod
    def _run(*arguments):
        subprocess.run(["ip", *arguments], check=True)


class Members:
    """Patroni, PostgreSQL and etcd of each member."""

    def __init__(self, cluster, network):
        self.cluster, self.network = cluster, network
        owned(cluster.path("home"))
        for member in MEMBERS:
            self._etcd(member)
        for member in MEMBERS:
            self.start(member)

    def _etcd(self, member):
        address = self.network.address(member)
        peers = ",".join(f"{other}=http://{self.network.address(other)}:2380" for other in MEMBERS)
        self.cluster.start(f"etcd-{member}", [
            *self.network.inside(member), program("etcd", "etcd-server"), "--name", member, "--data-dir", self.cluster.path(f"etcd-{member}"),
            "--listen-client-urls", f"http://{address}:2379", "--advertise-client-urls", f"http://{address}:2379",
            "--listen-peer-urls", f"http://{address}:2380", "--initial-advertise-peer-urls", f"http://{address}:2380",
            "--initial-cluster", peers, "--log-level", "error"])

    def start(self, member):
        address, home = self.network.address(member), self.cluster.path("home", member)
        owned(home)
        environment = {
            **os.environ, "HOME": home, "PATRONI_NAME": member,
            "PATRONI_RESTAPI_LISTEN": f"{address}:8008", "PATRONI_RESTAPI_CONNECT_ADDRESS": f"{address}:8008",
            "PATRONI_POSTGRESQL_LISTEN": f"{address}:5432", "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"{address}:5432",
            "PATRONI_POSTGRESQL_DATA_DIR": f"{home}/data", "PATRONI_POSTGRESQL_BIN_DIR": programs(),
            "PATRONI_ETCD3_HOSTS": ",".join(f"{self.network.address(other)}:2379" for other in MEMBERS),
            "PATRONI_SUPERUSER_USERNAME": "postgres", "PATRONI_SUPERUSER_PASSWORD": "superuser",
            "PATRONI_REPLICATION_USERNAME": "replicator", "PATRONI_REPLICATION_PASSWORD": "replicator"}
        self.cluster.start(f"patroni-{member}", [*self.network.inside(member), *as_user(), program("patroni", "patroni"),
                                                 os.path.join(ROOT, "deploy/patroni/patroni.yml")], env=environment, umask=0o077)

    def roles(self):
        """What the cluster is by the first member that responds: members by their role, of those that run."""
        for member in MEMBERS:
            try:
                with urllib.request.urlopen(f"http://{self.network.address(member)}:8008/cluster", timeout=2) as response:
                    members = json.load(response)["members"]
            except OSError:
                continue
            roles = {}
            for one in members:
                if one["state"] in ("running", "streaming"):
                    roles.setdefault(one["role"], []).append(one["name"])
            return roles
        return {}

    def whole(self):
        """The primary, if it has a synchronous standby and another one."""
        def found():
            roles = self.roles()
            is_whole = all(len(roles.get(role, [])) == 1 for role in ["leader", "sync_standby", "replica"])
            return is_whole and roles["leader"][0]
        return wait("a primary with two standbys", found, 180)

    def kill(self, member):
        """Ends PostgreSQL and Patroni of a member, and leaves its etcd."""
        spared = str(self.cluster.processes[f"etcd-{member}"].pid)
        self.network.kill(process for process in self.network.processes(member) if process != spared)
        self.cluster.kill(f"patroni-{member}")


def patroni(options):
    if os.geteuid() != 0:
        raise SystemExit("check-scale: network namespaces need root")
    network = Network()
    try:
        with Cluster(options) as cluster:
            tried(cluster, network)
    finally:
        network.remove()


def tried(cluster, network):
    members = Members(cluster, network)
    primary = members.whole()
    addresses = {f"STORE_{member.upper()}": f"{network.address(member)}:5432" for member in MEMBERS}
    ports = {f"STORE_{member.upper()}_PATRONI": "8008" for member in MEMBERS}
    front = f"{network.front}:5440"
    cluster.haproxy("postgres.cfg", {**addresses, **ports, "STORE_FRONT": front})
    wait("the database and its user", lambda: create_database(cluster, f"postgresql://postgres:superuser@{front}/postgres"))
    secret = PASSWORD.replace(" ", "%20")
    url = f"postgresql://larder:{secret}@{front}/larder?sslmode=disable"
    writer = Writer(cluster, "writer", url)
    writer.more(3000, 300)

    def interrupted(what, fault, longest):
        begin = time.monotonic()
        fault()
        # Until the proxy and the members have noticed, what was under way may still be acknowledged.
        wait("another primary", lambda: members.roles().get("leader", [primary]) != [primary], longest)
        promoted = time.monotonic() - begin
        writer.more(1, longest)
        seconds = time.monotonic() - begin
        check(f"SCALE-08 {what}: another primary after {promoted:.1f} s, changes are acknowledged again after {seconds:.1f} s",
              seconds <= longest)

    interrupted(f"the primary {primary} and its Patroni killed", lambda: members.kill(primary), LONGEST)
    writer.more(3000, 300)
    members.start(primary)
    primary = members.whole()

    # A client beside a primary that is cut off from the others: its acknowledged changes count as well.
    own = f"postgresql://larder:{secret}@{network.address(primary)}:5432/larder?sslmode=disable"
    beside = Writer(cluster, "beside", own, url, prefix=network.inside(primary))
    beside.more(500, 120)
    # If its etcd led the others, they count the time of its lock from their own election on.
    interrupted(f"the primary {primary} cut off", lambda: network.cut(primary), 2 * LONGEST)
    writer.more(3000, 300)
    network.cut(primary, "up")
    members.whole()

    # A standby that is cut off: the other one takes its place.
    standby = members.roles()["sync_standby"][0]
    network.cut(standby)
    begin = time.monotonic()
    wait("another synchronous standby", lambda: members.roles().get("sync_standby", [standby]) != [standby], 90)
    writer.more(1000, 120)
    print(f"     the synchronous standby {standby} cut off: 1,000 more changes {time.monotonic() - begin:.1f} s later", flush=True)
    network.cut(standby, "up")
    members.whole()
    beside.end(least=500)
    writer.end(least=10_000)
