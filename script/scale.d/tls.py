"""A PostgreSQL with a certificate: a server and `larder doctor` reach it encrypted, and refuse one that is not the expected one."""
import os, shutil, subprocess

from cluster import Cluster, check, request
from postgres import server


def run(cluster, *command):
    subprocess.run(command, check=True, stdout=cluster.log, stderr=cluster.log)


def authority(cluster, name):
    """Makes an authority, and a certificate by it for the address 127.0.0.1; returns the paths of both and of the key."""
    root, key, request_file, certificate = (cluster.path(f"{name}.{kind}") for kind in ["ca", "key", "csr", "crt"])
    run(cluster, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
        "-keyout", f"{root}.key", "-out", root)
    run(cluster, "openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=store", "-keyout", key, "-out", request_file)
    with open(cluster.path("names"), "w") as names:
        names.write("subjectAltName=IP:127.0.0.1\n")
    run(cluster, "openssl", "x509", "-req", "-in", request_file, "-CA", root, "-CAkey", f"{root}.key", "-days", "2",
        "-extfile", names.name, "-out", certificate)
    return root, key, certificate


def doctor(cluster, address):
    """The line about the store."""
    command = [cluster.options.larder, "doctor", "--data-directory", cluster.path("none"), "--node-apps", "notes",
               "--store-url", address]
    report = subprocess.run(command, capture_output=True, text=True)
    return next((line.strip() for line in report.stdout.splitlines() if line.split()[:1] == ["store"]), report.stdout + report.stderr)


def tls(options):
    with Cluster(options) as cluster:
        address, start = server(cluster)
        check(f"without a certificate: {doctor(cluster, address)}", "not encrypted" in doctor(cluster, address))
        refused = doctor(cluster, address + "?sslmode=require")
        check(f"SCALE-28 a store that cannot encrypt is refused: {refused}", "does not support SSL" in refused)
        root, key, certificate = authority(cluster, "ours")
        other, _, _ = authority(cluster, "other")
        for path, name in [(key, "server.key"), (certificate, "server.crt")]:
            shutil.copy(path, cluster.path("data", name))
            os.chmod(cluster.path("data", name), 0o600)
            if os.geteuid() == 0:
                shutil.chown(cluster.path("data", name), "postgres")
        with open(cluster.path("data", "postgresql.conf"), "a") as file:
            file.write("ssl = on\n")
        cluster.kill("postgres")
        start()
        trusted = f"{address}?sslmode=verify-full&sslrootcert={root}"
        found = doctor(cluster, trusted)
        check(f"SCALE-28 {found}", "; encrypted" in found)
        refused = doctor(cluster, f"{address}?sslmode=verify-full&sslrootcert={other}")
        check(f"SCALE-28 another authority is refused: {refused}", "certificate verify failed" in refused)
        refused = doctor(cluster, f"{trusted}&host=localhost&hostaddr=127.0.0.1".replace("@127.0.0.1:", "@localhost:"))
        check(f"SCALE-28 another name is refused: {refused}", "does not match host name" in refused)
        port = cluster.larder("n1", "--sandbox", "--node-apps", "notes", "--store-url", trusted)
        status, _ = request(port, "POST", "/v1/notes/session", {"Content-Type": "application/json"},
                            '{"mode": "register", "username": "ann", "password": "secret"}')
        check(f"a server makes changes over it: {status}", status == 201)
