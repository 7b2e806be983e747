"""An authority made by `larder certificate`, which the browser, Playwright and the tests trust."""
import os, subprocess

from larder import TRUST

NAMES = ["127.0.0.1", "localhost", "larder.localhost"]


def make(executable, folder):
    """Makes an authority and a certificate for this machine; the settings of a server that uses it."""
    names = [word for name in NAMES for word in ("--name", name)]
    subprocess.run([executable, "certificate", folder, *names], check=True, capture_output=True)
    return {"http_tls_certificate": folder / "server.crt", "http_tls_key": folder / "server.key"}


def trust(folder, home):
    """Has what is started later trust the authority, as the command says it of Chromium; the environment of a browser
    with this home."""
    database = home / ".pki/nssdb"
    database.mkdir(parents=True)
    certutil = ["certutil", "-d", f"sql:{database}"]
    subprocess.run([*certutil, "-N", "--empty-password"], check=True, capture_output=True)
    add = ["-A", "-t", "C,,", "-n", "Larder", "-i", folder / "authority.crt"]
    subprocess.run([*certutil, *add], check=True, capture_output=True)
    TRUST.load_verify_locations(folder / "authority.crt")
    # Requests of Playwright itself are those of its Node.
    os.environ["NODE_EXTRA_CA_CERTS"] = str(folder / "authority.crt")
    return {**os.environ, "HOME": str(home)}
