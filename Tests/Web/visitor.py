"""A person at a browser: one context with its pages, and everything that its console says."""
from urllib.parse import urlsplit

from larder import LOGINS, PATIENCE_MS

# Runs in each page before anything of its own.
WATCH = """
addEventListener('securitypolicyviolation', event =>
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
addEventListener('unhandledrejection', event => console.error(`rejection: ${event.reason?.stack ?? event.reason}`));
"""


class Visitor:
    """A context of the browser; what a script of the page does wrong is in `faults`."""

    def __init__(self, browser, larder, width=1280, height=800, scheme="light", locale="en-GB", **options):
        options.setdefault("has_touch", width < 700)
        options.setdefault("reduced_motion", "reduce")
        self.larder = larder
        self.faults = []
        self.requests = []
        # Addresses that are to have nothing.
        self.missing = []
        self.context = browser.new_context(
            base_url=larder.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale,
            timezone_id=options.pop("timezone_id", "Europe/Helsinki"), **options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.add_init_script(WATCH)
        self.context.on("console", self.heard)
        self.context.on("weberror", lambda error: self.faults.append(f"exception: {error.error}"))
        self.context.on("request", lambda request: self.requests.append(request.url))
        # Requests whose responses have not ended.
        self.pending = set()
        self.context.on("request", lambda request: self.pending.add(request))
        for end in ["requestfinished", "requestfailed"]:
            self.context.on(end, lambda request: self.pending.discard(request))

    def heard(self, message):
        if message.type != "error" and not (message.type == "warning" and "policy" in message.text.lower()):
            return
        place = message.location.get("url", "")
        # Chromium reports each response of 400 and above. Those of the API are what many tests are about.
        if message.text.startswith("Failed to load resource"):
            path = urlsplit(place).path
            if path.startswith("/v1") or path.startswith("/health") or self.larder.process is None:
                return
            if place in self.missing:
                return
            if "net::ERR_" in message.text and self.larder.restarted:
                return
        self.faults.append(f"{message.text} ({place}:{message.location.get('lineNumber')})")

    def log_in(self, *apps, **bodies):
        """Opens sessions that the browser carries as cookies."""
        for app in [*apps, *bodies]:
            headers = {"Larder-Session": "cookie", "Origin": self.larder.url}
            body = bodies.get(app, LOGINS[app] if app in LOGINS else None)
            response = self.context.request.post(f"/v1/{app}/session", data=body, headers=headers)
            assert response.ok, f"{app}: {response.status} {response.text()[:500]}"

    def send(self, method, path, body=None, **fields):
        """A request of the person's other device: the sessions are the same, no page knows of it."""
        headers = {"Origin": self.larder.url, **fields}
        response = self.context.request.fetch(path, method=method, data=body, headers=headers)
        assert response.ok, f"{method} {path}: {response.status} {response.text()[:500]}"
        return response

    def open(self, path):
        """A new page at an address, once it has its heading."""
        page = self.context.new_page()
        # Its load event waits for pictures, which is for those who look at them.
        page.goto(path, wait_until="domcontentloaded")
        page.locator("h1").first.wait_for()
        return page

    def waiting(self):
        """What has been requested and is not there yet; the event stream never is."""
        paths = [urlsplit(request.url).path for request in self.pending]
        return sorted(path for path in paths if path != "/v1/events")

    def take_faults(self, page):
        """Waits until the console says something, and gives all that it says: the page is asked in between, so that
        what belongs together has arrived."""
        for _ in range(1000):
            page.evaluate("new Promise(done => setTimeout(done))")
            if self.faults:
                break
        for _ in range(20):
            page.evaluate("new Promise(done => setTimeout(done))")
        heard, self.faults[:] = self.faults[:], []
        return heard

    def foreign(self):
        """What was requested from other places than the server."""
        own = urlsplit(self.larder.url).netloc
        return [url for url in self.requests if url.startswith("http") and urlsplit(url).netloc != own]
