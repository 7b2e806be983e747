"""PgBouncer before PostgreSQL: one that lends sessions by transaction or statement is refused by name, one that keeps them works."""
import os, subprocess
from urllib.parse import urlsplit

from cluster import Cluster, check, free_port, program, request, wait
from postgres import as_user, owned, server
from tls import doctor


def pooler(options):
    with Cluster(options) as cluster:
        address, _ = server(cluster)
        for mode in ["transaction", "statement", "session"]:
            pooled = bouncer(cluster, address, mode)
            found = doctor(cluster, pooled)
            if mode == "session":
                check(f"SCALE-28 {found}", "PostgreSQL responds" in found)
                port = cluster.larder("n1", "--sandbox", "--node-apps", "notes", "--store-url", pooled)
                status, _ = request(port, "POST", "/v1/notes/session", {"Content-Type": "application/json"},
                                    '{"mode": "register", "username": "ann", "password": "secret"}')
                check(f"a server makes changes over it: {status}", status == 201)
                continue
            check(f"SCALE-28 {mode}: {found}", "a pooler before it must keep sessions" in found)
            refused = subprocess.run([options.larder, "serve", "--http-port", "0", "--data-directory", cluster.path(mode), "--sandbox",
                                      "--node-apps", "notes", "--store-url", pooled], capture_output=True, text=True)
            check(f"SCALE-28 no server starts with it: {refused.stderr.splitlines()[-1]}",
                  refused.returncode == 1 and "a pooler before it must keep sessions" in refused.stderr)


def bouncer(cluster, address, mode):
    """Starts a PgBouncer, and returns the address of the store by way of it."""
    parts, port, folder = urlsplit(address), free_port(), owned(cluster.path(f"bouncer-{mode}"))
    with open(f"{folder}/users", "w") as users:
        users.write(f'"{parts.username}" "{parts.password}"\n')
    with open(f"{folder}/pgbouncer.ini", "w") as file:
        file.write(f"""[databases]
* = host={parts.hostname} port={parts.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = {mode}
ignore_startup_parameters = extra_float_digits,options
""")
    for name in ["users", "pgbouncer.ini"]:
        os.chmod(f"{folder}/{name}", 0o644)
    cluster.start(f"bouncer-{mode}", [*as_user(), program("pgbouncer", "pgbouncer"), f"{folder}/pgbouncer.ini"])
    wait("PgBouncer", lambda: subprocess.run(["pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]).returncode == 0)
    return address.replace(f":{parts.port}/", f":{port}/")
