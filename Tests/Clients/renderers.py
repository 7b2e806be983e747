"""Runs the renderers of examples/renderers against a server with its sandbox, in both languages (ONE-05).

Each of them draws every screen of its app and presses actions. A proxy between them and the server keeps the responses:
every word that is printed has to be in one of them, and every labelled text of a response has to be printed.
"""
import http.client, http.server, json, os, pathlib, queue, re, subprocess, sys, tempfile, threading, time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/renderers"
WORDS = re.compile(r"[^\W\d_]{2,}")
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" \
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\ntrailer<</Root 1 0 R>>\n"


class Server:
    """Larder with its sandbox."""

    def __init__(self, larder, folder):
        options = ["--sandbox", "--http-port", "0", "--ships-login-delay-ms", "0", "--log-level", "error",
                   "--upstreams-spacex-probe-interval-ms", "200", "--data-directory", folder / "data"]
        options += [word for name in ("ships", "shop", "disk") for word in (f"--freshness-{name}-s", "1")]
        self.process = subprocess.Popen([larder, "serve", *options], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("sandbox on "):
                self.sandbox = line.split()[-1]
            if line.startswith("listening on "):
                self.base = line.split()[-1]
                return
        sys.exit("the server has not started")

    def fault(self, upstream, fault):
        body = json.dumps({"fault": fault}).encode()
        address = f"{self.sandbox}/upstreams/{upstream}/fault"
        urllib.request.urlopen(urllib.request.Request(address, body, method="PUT")).close()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


class Proxy(http.server.ThreadingHTTPServer):
    """Passes requests on, and keeps the JSON of the responses."""
    daemon_threads = True

    def __init__(self, base):
        super().__init__(("127.0.0.1", 0), Passing)
        self.host, self.screens, self.lock = base.removeprefix("http://"), [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *arguments):
        """A renderer that ends closes its stream of events."""

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_port}"

    def words(self):
        def texts(value):
            if isinstance(value, dict):
                return " ".join(texts(one) for one in value.values())
            return " ".join(texts(one) for one in value) if isinstance(value, list) else str(value)
        with self.lock:
            return set(WORDS.findall(" ".join(texts(screen) for _, screen in self.screens)))


class Passing(http.server.BaseHTTPRequestHandler):
    def pass_on(self):
        length = int(self.headers["Content-Length"] or 0)
        unsent = ("host", "accept-encoding")
        fields = {name: value for name, value in self.headers.items() if name.lower() not in unsent}
        upstream = http.client.HTTPConnection(self.server.host)
        upstream.request(self.command, self.path, self.rfile.read(length) if length else None, fields)
        response = upstream.getresponse()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        if "event-stream" in response.headers["Content-Type"]:
            self.end_headers()
            while line := response.readline():
                self.wfile.write(line)
            return
        body = response.read()
        if "json" in response.headers["Content-Type"]:
            with self.server.lock:
                self.server.screens.append((f"{self.command} {self.path}", json.loads(body)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

    def log_message(self, *arguments):
        pass


class Renderer:
    """A renderer as a person uses it: it prints, and waits for a line."""

    def __init__(self, command, proxy, language):
        self.process = subprocess.Popen([*command, proxy.base, language], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.printed, self.bytes = "", queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.last = self.until_it_asks()

    def read(self):
        while part := os.read(self.process.stdout.fileno(), 65536):
            self.bytes.put(part)
        self.bytes.put(None)

    def until_it_asks(self, prompt=r"(^|\n)> |(: |\] \S[^\n]* )$"):
        """Returns what is printed up to a question; what an event has shown ends with `~`."""
        said, deadline = b"", time.monotonic() + 60
        while True:
            try:
                part = self.bytes.get(timeout=0.2)
            except queue.Empty:
                text = said.decode()
                if re.search(prompt, text):
                    self.printed += text
                    return text
                assert time.monotonic() < deadline, f"it does not ask: {text}"
                continue
            assert part is not None, f"it ended: {said.decode()}"
            said += part

    def say(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        self.last = self.until_it_asks()
        return self.last

    def press(self, title, *answers):
        """Presses the first thing with a title, and answers its questions."""
        shown = self.last.rpartition("\n== ")[2]
        number = re.search(rf"^\s*\[(\d+)\] {re.escape(title)}$", shown, re.M)
        assert number, f"{title} is not offered in\n{shown}"
        for line in (number[1], *answers):
            self.say(line)
        return self.last

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0, f"it ended with {self.process.returncode}"


def labelled(thing, labels):
    """The texts of a response that people are to see."""
    if isinstance(thing, list):
        return [text for one in thing for text in labelled(one, labels)]
    if not isinstance(thing, dict):
        return []
    own = [thing[label["member"]] for label in labels if isinstance(thing.get(label["member"]), str)]
    rows = thing["items"] if isinstance(thing.get("items"), list) else []
    return own + labelled([thing.get(label["member"]) for label in labels] + rows, labels)


def check(renderer, proxy, app):
    """Everything that is printed is from the responses, and everything that they label is printed."""
    foreign = set(WORDS.findall(renderer.printed)) - proxy.words()
    assert not foreign, f"{app} prints texts of its own: {foreign}"
    missing = set()
    for request, screen in proxy.screens:
        if "meta" not in screen or not request.startswith(f"GET /v1/{app}") or "/launch" in request:
            continue
        texts = [screen["meta"]["title"], *labelled(screen["data"], screen["meta"]["labels"])]
        missing |= {(request, text) for text in texts if text not in renderer.printed}
    assert not missing, f"{app} does not print {list(missing)[:5]}"


def title(proxy, screen, action):
    """The title of an action, as the last response of a screen has it: the test does not know languages."""
    def found(value):
        if isinstance(value, dict):
            if value.get("id") == action and "enabled" in value:
                yield value["title"]
            value = list(value.values())
        for one in value if isinstance(value, list) else []:
            yield from found(one)
    screens = [body for _, body in proxy.screens if body.get("meta", {}).get("screen") == screen]
    assert screens, f"{screen} was not shown: {[request for request, _ in proxy.screens]}"
    return next(found(screens[-1]))


def tour(renderer, proxy, app):
    """All screens of the app from `GET /v1`."""
    renderer.say("*")
    index = next(body for request, body in proxy.screens if request == "GET /v1")
    screens = next(one["screens"] for one in index["data"]["apps"] if one["app"] == app)
    opened = {request.split("?")[0] for request, _ in proxy.screens}
    for one in screens:
        if one["method"] == "GET" and "title" in one and "{" not in one["href"]:
            assert f"GET {one['href']}" in opened or "chart.svg" in one["href"], f"{one['href']} was not drawn"


def follow(renderer, proxy):
    """Opens the first row of the shown list."""
    row = re.search(r"^  \[(\d+)\] ", renderer.last.rpartition("\n== ")[2], re.M)
    assert row, f"no row opens anything:\n{renderer.last}"
    return renderer.say(row[1])


def ships(renderer, proxy, server, folder):
    renderer.press(title(proxy, "ships.launch", "login"), "captain@example.com", "secret")
    renderer.press(title(proxy, "ships.list", "delete"))
    renderer.press(title(proxy, "ships.list", "undo"))
    renderer.say("")
    tour(renderer, proxy, "ships")
    server.fault("spacex", "offline")
    try:
        await_banner(renderer)
    finally:
        server.fault("spacex", "online")
    # The event of the recovery requests the screen again, without a line of input.
    renderer.last = renderer.until_it_asks(r"\n~ ").rpartition("\n~ ")[0].rpartition("\n== ")[2]
    assert "! " not in renderer.last, f"the banner is still there:\n{renderer.last}"
    follow(renderer, proxy)


def disk(renderer, proxy, server, folder):
    if any(body.get("meta", {}).get("screen") == "disk.onboarding" for _, body in proxy.screens):
        renderer.press(title(proxy, "disk.onboarding", "finish"))
    renderer.press(title(proxy, "disk.launch", "oauth_token"), "sandbox-token")
    renderer.press(title(proxy, "disk.recent", "keep_offline"))
    tour(renderer, proxy, "disk")
    offline(renderer, proxy, server, "yandex_disk", "/v1/disk/recent")


def shop(renderer, proxy, server, folder):
    renderer.press(title(proxy, "shop.search", "add"))
    go(renderer, proxy, "/v1/shop/list")
    renderer.press(title(proxy, "shop.list", "increase"))
    offline(renderer, proxy, server, "catalogue", "/v1/shop/search")
    follow(renderer, proxy)
    tour(renderer, proxy, "shop")


def notes(renderer, proxy, server, folder):
    renderer.press(title(proxy, "notes.launch", "register"), f"ann{time.monotonic_ns()}", "secret")
    renderer.press(title(proxy, "notes.list", "create"), "Fog at the pier", "north", "37.8, -122.4, Pier")
    renderer.press(title(proxy, "notes.details", "save"), "", "")
    tour(renderer, proxy, "notes")


def pdf(renderer, proxy, server, folder):
    (folder / "one.pdf").write_bytes(PDF)
    if any(body.get("meta", {}).get("screen") == "pdf.welcome" for _, body in proxy.screens):
        renderer.press(title(proxy, "pdf.welcome", "finish"))
        renderer.say("")
    tour(renderer, proxy, "pdf")
    go(renderer, proxy, "/v1/pdf/documents")
    # No password after the files.
    renderer.press(title(proxy, "pdf.list", "create"), str(folder / "none.pdf"), str(folder / "one.pdf"), "")
    renderer.press(title(proxy, "pdf.created", "save"), "")
    tour(renderer, proxy, "pdf")


def go(renderer, proxy, href):
    """Opens a main screen by its tab."""
    tabs = [tab for _, body in proxy.screens for tab in body.get("links", {}).get("tabs", [])]
    return renderer.press(next(tab["title"] for tab in reversed(tabs) if tab["href"] == href))


def offline(renderer, proxy, server, upstream, href):
    """A list whose copy is out of date, while its upstream is away."""
    server.fault(upstream, "offline")
    try:
        go(renderer, proxy, href)
        await_banner(renderer)
    finally:
        server.fault(upstream, "online")


def await_banner(renderer):
    """Requests the screen again until its copy is out of date, and it says so."""
    deadline = time.monotonic() + 30
    while not re.search(r"^! ", renderer.last, re.M) and time.monotonic() < deadline:
        renderer.say("")
    assert re.search(r"^! ", renderer.last, re.M), f"no banner:\n{renderer.last}"


def refuses(command):
    """Without an address, and at one that is no server's, a renderer ends with one line."""
    for arguments in ([], ["http://127.0.0.1:1"]):
        ended = subprocess.run([*command, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert ended.returncode == 1 and len(ended.stderr.splitlines()) == 1, f"{arguments}: {ended}"


def commands(folder):
    """The renderers, those in Swift compiled."""
    own = {"shop": ["node", EXAMPLES / "shop.mjs"]}
    own |= {app: [sys.executable, "-B", EXAMPLES / f"{app}.py"] for app in ("notes", "pdf")}
    for app in ("Ships", "Disk"):
        sources = [EXAMPLES / f"{name}.swift" for name in ("Larder", "Terminal", app)]
        subprocess.run(["swiftc", "-swift-version", "6", "-parse-as-library", *sources, "-o", folder / app], check=True)
        own[app.lower()] = [folder / app]
    return own


def main():
    for file in EXAMPLES.iterdir():
        assert file.is_dir() or len(file.read_text().splitlines()) <= 150, f"{file.name} is longer than 150 lines"
    larder = os.environ.get("LARDER_EXECUTABLE", ROOT / ".build/debug/larder")
    wanted = sys.argv[1:] or ["ships", "disk", "shop", "notes", "pdf"]
    with tempfile.TemporaryDirectory(prefix="larder-renderers-") as name:
        folder = pathlib.Path(name)
        renderers = commands(folder)
        for app in wanted:
            refuses(renderers[app])
        for language in ("en", "ru"):
            (folder / language).mkdir()
            server = Server(larder, folder / language)
            try:
                for app in wanted:
                    proxy = Proxy(server.base)
                    renderer = Renderer(renderers[app], proxy, language)
                    globals()[app](renderer, proxy, server, folder)
                    renderer.stop()
                    check(renderer, proxy, app)
                    print(f"{app} in {language}: {len(proxy.screens)} responses drawn", flush=True)
            finally:
                server.stop()


if __name__ == "__main__":
    main()
