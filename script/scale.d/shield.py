"""deploy/nginx/shield.conf before the shared upstreams of three processes: a stampede, then the origins are cut off."""
import http.client, json, os, subprocess, threading, time

from cluster import ROOT, Cluster, check, free_port, json_of, program, request, wait

NODES = ["n1", "n2", "n3"]
ORIGINS = {"spacex": "api.spacexdata.com", "catalogue": "api.escuelajs.co", "people": "api.mockaroo.com"}
# For how long the shield gives a response to everybody, in seconds: one by its clock, which has whole seconds.
WINDOW = 2
SHIP, CATEGORIES = "/v1/upstreams/spacex/v4/ships", "/v1/shop/categories"

MAIN = """
daemon off; worker_processes 1; pid {folder}/pid; error_log stderr; {user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {servers}
}}
"""
# The origins over TLS, by their own names: the simulated upstreams speak neither.
ORIGIN = """
    server {{
        listen 127.0.0.1:{port} ssl; server_name {name};
        ssl_certificate {certificate}.pem; ssl_certificate_key {certificate}.key;
        location {path} {{ proxy_pass http://127.0.0.1:{sandbox}/{upstream}/; proxy_set_header Host 127.0.0.1:{sandbox}; }}
    }}
"""


def nginx(cluster, name, servers):
    folder = cluster.path(name)
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/nginx.conf", "w") as file:
        user = "user root;" if os.geteuid() == 0 else ""
        file.write(MAIN.format(folder=folder, servers=servers, user=user))
    cluster.start(name, [program("nginx", "nginx-light"), "-p", folder, "-e", "stderr", "-c", f"{folder}/nginx.conf"])


def certificate(cluster, name, hosts):
    names = ",".join(f"DNS:{host}" for host in hosts)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={hosts[0]}",
                    "-addext", f"subjectAltName={names}", "-keyout", cluster.path(f"{name}.key"), "-out", cluster.path(f"{name}.pem")],
                   check=True, stdout=cluster.log, stderr=cluster.log)


def origin(cluster, port, sandbox, name):
    """The origins, with a certificate of this name."""
    paths = {"spacex": "/", "catalogue": "/api/v1/", "people": "/"}
    nginx(cluster, "origin", "".join(
        ORIGIN.format(port=port, name=host, certificate=cluster.path(name), path=paths[upstream], sandbox=sandbox, upstream=upstream)
        for upstream, host in ORIGINS.items()))
    wait("the origins", lambda: http.client.HTTPConnection("127.0.0.1", port).connect() is None)


def configuration(cluster, shield, origins):
    """The file as it is delivered, but for addresses, the folder of the cache, and whom it trusts."""
    with open(os.path.join(ROOT, "deploy/nginx/shield.conf")) as file:
        text = file.read()
    changes = {"127.0.0.1:8090;\n    access": f"127.0.0.1:{shield};\n    access", "/var/cache/nginx/larder": cluster.path("cache"),
               "/etc/ssl/certs/ca-certificates.crt": cluster.path("right.pem"),
               **{f"server {host}:443": f"server 127.0.0.1:{origins}" for host in ORIGINS.values()}}
    for old, new in changes.items():
        if text.count(old) != 1:
            raise SystemExit(f"check-scale: deploy/nginx/shield.conf has {old} {text.count(old)} times")
        text = text.replace(old, new)
    return text


def shield(options):
    with Cluster(options) as cluster:
        sandbox, front, origins = cluster.sandbox(), free_port(), free_port()
        certificate(cluster, "right", list(ORIGINS.values()))
        certificate(cluster, "wrong", ["larder.example"])
        nginx(cluster, "shield", configuration(cluster, front, origins))
        settings = [f"--upstreams-{name}-url=http://127.0.0.1:{front}/{name}" for name in ORIGINS]
        # A client with a stored copy waits for the upstream, so that its response is of this request.
        settings += [f"--upstreams-{name}-{what}-ms={value}" for name in ORIGINS
                     for what, value in [("patience", 8000), ("probe-interval", 500)]]
        ports = [cluster.larder(name, *settings) for name in NODES]
        origin(cluster, origins, sandbox, "wrong")
        check("an origin with another certificate is not believed", request(ports[0], "GET", SHIP)[0] in (502, 503, 504))
        cluster.kill("origin")
        origin(cluster, origins, sandbox, "right")
        for port in ports:
            wait("the origins to be reachable", lambda: not unreachable(port))
        passed(ports, sandbox)
        for path in [SHIP, CATEGORIES]:
            stampede(ports, sandbox, path)
        cut(cluster, sandbox, ports)
        origin(cluster, origins, sandbox, "right")
        for port in ports:
            wait("content of the origin again", lambda: not said(port)["offline"])
        check("the origins are back: every process says so", True)


def unreachable(port):
    return [upstream["name"] for upstream in json_of(port, "/v1/status")["data"]["upstreams"] if not upstream["reachable"]]


def set_fault(sandbox, upstream, fault):
    body = json.dumps({"fault": fault}).encode()
    status, text = request(sandbox, "PUT", f"/_sandbox/upstreams/{upstream}/fault", {"Content-Type": "application/json"}, body)
    check(f"{upstream}: {fault}", status in (200, 204))


def arrived(sandbox, path):
    """How often the origin was asked for what a path shows."""
    part = {SHIP: "/spacex/v4/ships", CATEGORIES: "/catalogue/categories"}[path]
    return json_of(sandbox, f"/_sandbox/journal?path={part}")["count"]


def passed(ports, sandbox):
    """What an origin responds is not changed: a pause that it asks for."""
    set_fault(sandbox, "people", "error(503, 7)")
    connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=60)
    connection.request("GET", "/v1/upstreams/people/anything", headers={"Host": "localhost"})
    response = connection.getresponse()
    check("a 503 with Retry-After goes through", (response.status, response.headers["Retry-After"]) == (503, "7"))
    connection.close()


def stampede(ports, sandbox, path, clients=200):
    set_fault(sandbox, "catalogue" if path == CATEGORIES else "spacex", "slow(1500)")
    before, statuses = arrived(sandbox, path), []

    def ask(port):
        statuses.append(request(port, "GET", path)[0])

    threads = [threading.Thread(target=ask, args=(ports[number % len(ports)],)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(f"{clients} clients of three processes got {path}", statuses == [200] * clients)
    check(f"SCALE-11 {clients} clients, one request to the origin: {arrived(sandbox, path) - before}",
          arrived(sandbox, path) - before == 1)
    set_fault(sandbox, "catalogue" if path == CATEGORIES else "spacex", "online")


def said(port):
    """What a screen says of itself, and when it was asked for."""
    begin = time.time()
    meta = json_of(port, f"{CATEGORIES}?refresh=1")["meta"]
    return {"offline": meta["offline"], "stale": meta["stale"], "banner": meta["banner"], "at": begin}


def cut(cluster, sandbox, ports):
    """The origins end: for the time of the window, processes may hear what was confirmed before; after it, nothing."""
    before = arrived(sandbox, CATEGORIES)
    # From here on, the shield gives what it has for the longest time.
    wait("a response of the origin", lambda: said(ports[0]) and arrived(sandbox, CATEGORIES) > before)
    cluster.kill("origin")
    begin, left, current = time.time(), set(ports), [0]
    while left:
        for port in list(left):
            seen = said(port)
            if not seen["offline"]:
                current.append(seen["at"] - begin)
                continue
            check(f"SCALE-11 offline {seen['at'] - begin:.1f} s after the cut, with a banner", seen["stale"] and seen["banner"])
            left.remove(port)
        # A second more for a busy machine.
        if max(current) > WINDOW + 1:
            check(f"what the origin confirmed before the cut is current for {WINDOW} s at most", False)
    for port in ports:
        check("SCALE-11 once offline, the process stays so", all(said(port)["offline"] for _ in range(5)))
        check("the status names the origin", "catalogue" in unreachable(port))
