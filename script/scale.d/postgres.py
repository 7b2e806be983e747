"""One PostgreSQL with deploy/postgresql, killed under the load of Larder's own client."""
import glob, os, secrets, shutil, subprocess, sys, time

from cluster import ROOT, Cluster, check, free_port, wait
from writer import Writer

PASSWORD = secrets.token_hex(16)


def programs():
    """The folder of PostgreSQL's programs, which are not on the PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else sys.exit("postgresql is missing: apt-get install --no-install-recommends postgresql")


def as_user():
    """PostgreSQL refuses to run as root."""
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []


def owned(path):
    os.makedirs(path, exist_ok=True)
    if os.geteuid() == 0:
        shutil.chown(path, "postgres", "postgres")
    os.chmod(path, 0o700)
    return path


def create_database(cluster, address):
    """Runs deploy/postgresql/larder.sql as the superuser."""
    command = [f"{programs()}/psql", "-qv", "ON_ERROR_STOP=1", "-v", f"password={PASSWORD}", "-d", address,
               "-f", os.path.join(ROOT, "deploy/postgresql/larder.sql")]
    return subprocess.run(command, stdout=cluster.log, stderr=cluster.log).returncode == 0


def server(cluster, host="127.0.0.1"):
    """Makes a PostgreSQL with deploy/postgresql and starts it; returns the address of Larder's database, and what starts it again.

    Without a host, it listens on a Unix socket only, in a folder that other users cannot enter.
    """
    data, sockets, port = owned(cluster.path("data")), owned(cluster.path("sockets")), free_port()
    password = secrets.token_hex(16)
    with open(cluster.path("password"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(password)
    if os.geteuid() == 0:
        shutil.chown(file.name, "postgres")
    subprocess.run([*as_user(), f"{programs()}/initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale", "C.UTF-8", "-k",
                    "-A", "scram-sha-256", "--pwfile", cluster.path("password")], check=True, stdout=cluster.log, stderr=cluster.log)
    with open(f"{data}/postgresql.conf", "a") as file:
        file.write(f"include '{os.path.join(cluster.folder, 'larder.conf')}'\n")
    shutil.copy(os.path.join(ROOT, "deploy/postgresql/larder.conf"), cluster.path("larder.conf"))

    ready = [f"{programs()}/pg_isready", "-q", "-h", host or sockets, "-p", str(port)]

    def start():
        """Starts it, again while the backends of a killed one still hold its shared memory."""
        def started():
            if "postgres" not in cluster.processes or cluster.processes["postgres"].poll() is not None:
                cluster.start("postgres", [*as_user(), f"{programs()}/postgres", "-D", data, "-h", host, "-p", str(port), "-k", sockets])
            return subprocess.run(ready).returncode == 0
        wait("the start of PostgreSQL", started)

    def address(user, word, database):
        place = f"{host}:{port}/{database}" if host else f"/{database}?host={sockets}&port={port}"
        return f"postgresql://{user}:{word}@{place}"

    start()
    check("the database and its user", create_database(cluster, address("postgres", password, "postgres")))
    return address("larder", PASSWORD, "larder"), start


def postgres(options):
    with Cluster(options) as cluster:
        address, start = server(cluster)
        writer = Writer(cluster, "writer", address)
        for number in range(3):
            writer.more(2000, 300)
            begin = time.monotonic()
            cluster.kill("postgres")
            start()
            writer.more(1)
            print(f"     kill {number + 1}: changes again after {time.monotonic() - begin:.1f} s")
        writer.more(4000, 300)
        writer.end(least=10_000)
