"""A walk through all screens of a running server, with simulated upstreams: what it responded, and to what."""
import json, re, time, urllib.error, urllib.parse, urllib.request

SESSIONS = {
    "ships": {"mode": "guest"},
    "notes": {"mode": "register", "username": "walker", "password": "long enough"},
    "disk": {"mode": "oauth_token", "access_token": "sandbox-token"},
}
WRITES = [
    ("post", "/v1/notes", {"body": "Buy bread\nand milk", "location": {"lat": 37.79, "lon": -122.42}}),
    ("put", "/v1/disk/onboarding", {"seen": True}),
]
# Screens that a walk does not see, with the reason.
NOT_WALKED = {"getDiskOperationsId": "only an upstream that defers its work makes one; its example is checked"}


class Walk:
    def __init__(self, base, contract, apps=("disk", "pdf", "ships", "shop", "notes"), controls=None):
        """`apps`: what the server serves; `controls`: those of its upstreams, if it is no single process that
        passes them on; devices are paired with one process."""
        self.base, self.contract = base, contract
        self.controls = f"{base}/v1/sandbox" if controls is None else controls
        has_sandbox = controls is None
        # The first segments of paths that are not walked.
        self.elsewhere = {"disk", "pdf", "ships", "shop", "notes"} - set(apps) | (set() if has_sandbox else {"sandbox", "devices"})
        self.tokens, self.seen, self.asked, self.responses, self.queue = {}, set(), set(), [], []

    def send(self, method, target, body=None, media_type="application/json", fields={}):
        """Requests a target; follows what it links to later if the operation was not seen."""
        path = target.split("?")[0]
        template, operation = self.contract.operation(method, path)
        app = path.split("/")[2] if path.count("/") > 1 else ""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + target, data, dict(fields), method=method.upper())
        if body is not None:
            request.add_header("Content-Type", media_type)
        if app in self.tokens:
            request.add_header("Authorization", f"Bearer {self.tokens[app]}")
        try:
            response = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            text, status, kind = response.read(), response.status, response.headers.get_content_type()
        value = json.loads(text) if kind.endswith("json") else None
        if value is not None:
            schema = self.contract.schema(operation, status, kind)
            self.responses.append({
                "place": f"{method} {target} {status}", "schema": schema, "value": value, "method": method,
                "target": target, "template": template, "operation": operation["operationId"], "status": status,
            })
            if not path.startswith("/openapi"):  # Its examples are of other servers.
                self.queue += links(value)
        if status < 300:
            self.seen.add(operation["operationId"])
        return status, value

    def all(self):
        """Logs in everywhere, writes something everywhere, and follows every link that leads to an operation unseen."""
        for app, body in SESSIONS.items():
            if app in self.elsewhere:
                continue
            status, session = self.send("post", f"/v1/{app}/session", body)
            if status != 201:
                raise SystemExit(f"no session of {app}: {session}")
            self.tokens[app] = session["data"]["token"]
        for method, target, body in WRITES:
            if self.serves(target):
                self.send(method, target, body)
        self.send("post", "/v1/pdf/documents", *form())
        products = self.send("get", "/v1/shop/search")[1]["data"]["items"]
        self.send("post", "/v1/shop/list/items", {"product_id": products[0]["id"], "quantity": 2})
        if "disk" not in self.elsewhere:
            files = self.send("get", "/v1/disk/files?path=disk:/")[1]["data"]["items"]
            file = next(row for row in files if row["type"] == "file")
            self.send("post", "/v1/disk/downloads", {"path": file["path"]})
        for target in ("/v1/shop/search?q=shirt", "/v1/disk/search?q=a", "/v1/notes/places?q=Berlin", "/v1/ships?limit=2"):
            if self.serves(target):
                self.send("get", target)
        for method, path, operation in self.contract.operations():
            required = [p for p in self.contract.parameters(path, operation) if p.get("required")]
            if method == "get" and not required and path != "/v1/events" and self.serves(path):
                self.send("get", path)
        if "disk" not in self.elsewhere and self.controls:
            self.leave({"path": "disk:/Left while offline"})
        self.follow()
        self.send("get", "/v1/notes/n999999")
        self.send("post", "/v1/ships/session", {"mode": "login", "username": "", "password": ""})
        return self.responses

    def serves(self, target):
        return re.split("[/?]", target)[2:3] == [] or re.split("[/?]", target)[2] not in self.elsewhere

    def leave(self, folder):
        """Leaves a write in the outbox of the Disk: its upstream is away meanwhile."""
        self.fault("yandex_disk", "offline")
        self.send("post", "/v1/disk/folders", folder, fields={"Prefer": "respond-async"})
        waiting = self.send("get", "/v1/disk/outbox")[1]["data"]["items"]
        assert waiting, "no write waits"
        self.fault("yandex_disk", "online")
        self.send("get", f"/v1/disk/outbox/{waiting[0]['id']}")
        # What is not stored is 503 until each server has noticed: four in a row are from all of them.
        end, fresh = time.monotonic() + 60, 0
        while fresh < 4 and time.monotonic() < end:
            screen = self.send("get", "/v1/disk/files?path=disk:/&refresh=1")[1]
            fresh = 0 if screen["meta"]["offline"] else fresh + 1
            time.sleep(0.05)

    def fault(self, upstream, name):
        """Sets a fault by the control of the sandbox."""
        target = f"{self.controls}/upstreams/{upstream}/fault"
        body = json.dumps({"fault": name}).encode()
        request = urllib.request.Request(target, body, {"Content-Type": "application/json"}, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

    def follow(self):
        while self.queue:
            target = self.queue.pop()
            operation = self.contract.operation("get", urllib.parse.urlsplit(target).path)[1]
            is_new = operation and operation["operationId"] not in self.seen and target not in self.asked
            if is_new and "/events" not in target and self.serves(target):
                self.asked.add(target)
                self.send("get", target)

    def missing(self):
        """GET operations with a screen that did not succeed."""
        for method, path, operation in self.contract.operations():
            name = operation["operationId"]
            wanted = method == "get" and self.serves(path) and self.contract.schema(operation, 200)
            if wanted and name not in self.seen | set(NOT_WALKED):
                yield f"{name} ({path})"


def links(value):
    """Addresses of GET requests within a response."""
    if isinstance(value, list):
        return [link for item in value for link in links(item)]
    if not isinstance(value, dict):
        return []
    own = [member for name, member in value.items()
           if isinstance(member, str) and re.match(r"/v1/[^{]*$", member) and value.get("method", "GET") == "GET"]
    return own + [link for member in value.values() for link in links(member)]


def form():
    """A form with a picture, which becomes a document."""
    lines = ["--b", 'Content-Disposition: form-data; name="files"; filename="a.png"', "Content-Type: image/png", "", ""]
    return "\r\n".join(lines).encode() + picture() + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


def picture():
    """A PNG of 8 × 8 pixels."""
    import struct, zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * 8 for _ in range(8))
    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
