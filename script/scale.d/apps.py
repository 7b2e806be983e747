"""A process for each group of apps behind deploy/haproxy/apps.cfg."""
import http.client, json

from cluster import Cluster, check, free_port, request, wait

NODES = {"notes": "notes", "files": "disk,pdf", "shop": "ships,shop"}


def apps(options):
    with Cluster(options) as cluster:
        ports = {name: cluster.larder(name, "--sandbox", "--node-apps", served, "--notes-attempts-per-address", "10")
                 for name, served in NODES.items()}
        front = free_port()
        addresses = {f"LARDER_{name.upper()}": f"127.0.0.1:{port}" for name, port in ports.items()}
        cluster.haproxy("apps.cfg", {**addresses, "LARDER_FRONT": f"127.0.0.1:{front}"})
        for path in ["/v1/notes/launch", "/v1/pdf/launch", "/v1/shop/launch"]:
            wait(path, lambda: request(front, "GET", path)[0] == 200)
        tried(front, ports)
        cluster.kill("shop")
        wait("503 for the shop", lambda: request(front, "GET", "/v1/shop/launch")[0] == 503)
        check("the notes go on", request(front, "GET", "/v1/notes/launch")[0] == 200)
        check("documents go on", request(front, "GET", "/v1/pdf/launch")[0] == 200)


def tried(front, ports):
    screens = {"notes": "/v1/notes/launch", "files": "/v1/pdf/launch", "shop": "/v1/shop/launch"}
    for name, path in [*screens.items(), ("files", "/v1/disk/onboarding"), ("shop", "/v1/ships/launch")]:
        check(f"{path} through the proxy", request(front, "GET", path)[0] == 200)
        for other in NODES:
            expected = 200 if other == name else 421
            check(f"SCALE-19 {path} at {other}: {expected}", request(ports[other], "GET", path)[0] == expected)
    check("an app that does not exist is 400", request(front, "GET", "/v1/events?app=boats")[0] == 400)
    check("an event stream of the notes", events(front, "notes") == 200)
    check("a mount of another app is 421", request(ports["notes"], "GET", "/v1/upstreams/spacex/v4/ships")[0] == 421)
    check("a mount through the proxy", request(front, "GET", "/v1/upstreams/spacex/v4/ships")[0] == 200)
    seen = wrong_passwords(front)
    check(f"SCALE-12 a forged address counts for nothing: {seen}", seen == [401] * 10 + [429] * 5)


def events(port, app):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"/v1/events?app={app}", headers={"Host": "localhost"})
    status = connection.getresponse().status
    connection.close()
    return status


def wrong_passwords(front):
    """The statuses of wrong passwords from one address, each of which claims another name and address."""
    seen = []
    for number in range(15):
        body = json.dumps({"mode": "login", "username": f"alice{number}", "password": "wrong password"}).encode()
        headers = {"Content-Type": "application/json", "X-Forwarded-For": f"203.0.113.{number}"}
        seen.append(request(front, "POST", "/v1/notes/session", headers, body)[0])
    return seen
