"""Firefox and WebKitGTK. Playwright drives builds of its own of these, so they are driven by WebDriver (W3C) here:
WebKitGTK by its driver, over HTTP; Firefox by what its driver would use, Marionette, over a socket."""
import itertools, json, os, pathlib, signal, socket, subprocess, time, urllib.request
from urllib.error import HTTPError, URLError

from larder import PATIENCE_MS

PROFILE = {"marionette.port": 0, "ui.prefersReducedMotion": 1, "intl.accept_languages": "en-GB, en",
           "browser.shell.checkDefaultBrowser": False, "app.normandy.enabled": False}
MINI_BROWSER = {"binary": "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "args": ["--automation"]}
# Commands, as Marionette names them, and where WebDriver has them below a session.
PATHS = {
    "Navigate": ("POST", "url"), "ExecuteScript": ("POST", "execute/sync"), "SetWindowRect": ("POST", "window/rect"),
    "ElementClick": ("POST", "element/{id}/click"), "ElementSendKeys": ("POST", "element/{id}/value"),
    "PerformActions": ("POST", "actions"), "TakeScreenshot": ("GET", "screenshot"), "DeleteSession": ("DELETE", ""),
}
# The key of the identity of an element.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Refused(Exception):
    """The browser did not do what it was asked for."""


def until(condition, what):
    """Asks again until it is there; the browser has no other way to say that something has changed."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.05)
    return found


class Firefox:
    """A Firefox without a window, with a profile in a folder."""

    def __init__(self, folder):
        preferences = "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in
                              PROFILE.items())
        pathlib.Path(folder, "user.js").write_text(preferences)
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile",
                                         str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The browser writes its port there.
        port = pathlib.Path(folder, "MarionetteActivePort")
        until(lambda: port.exists() and port.read_text(), "Firefox did not start")
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), PATIENCE_MS / 1000)
        self.stream = self.socket.makefile("rb")
        self.numbers = itertools.count(1)
        self.read()
        self.send("NewSession", {"capabilities": {}})

    def read(self):
        length = b"".join(iter(lambda: self.stream.read(1), b":"))
        return json.loads(self.stream.read(int(length)))

    def send(self, command, parameters):
        message = json.dumps([0, next(self.numbers), f"WebDriver:{command}", parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self.read()
        if error:
            raise Refused(f"{command}: {error['error']}: {error['message']}")
        return result["value"] if isinstance(result, dict) and result.keys() == {"value"} else result

    def quit(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)


class WebKit:
    """A WebKitGTK in a display of its own."""

    def __init__(self, _):
        with socket.socket() as any_port:
            any_port.bind(("127.0.0.1", 0))
            port = any_port.getsockname()[1]
        # Its own sandbox does not run as root.
        alone = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"} if os.geteuid() == 0 else {}
        self.process = subprocess.Popen(["xvfb-run", "--auto-servernum", "WebKitWebDriver", f"--port={port}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **alone}, start_new_session=True)
        self.address = f"http://127.0.0.1:{port}"
        until(self.answers, "WebKitWebDriver did not start")
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": MINI_BROWSER}}}
        self.session = f"/session/{self.request('POST', '/session', wanted)['sessionId']}"

    def answers(self):
        try:
            return self.request("GET", "/status", None)
        except (URLError, ConnectionError):
            return None

    def request(self, method, path, body):
        data = None if method != "POST" else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_MS / 1000) as response:
                return json.load(response)["value"]
        except HTTPError as error:
            raise Refused(f"{path}: {error.read()[:2000].decode(errors='replace')}") from None

    def send(self, command, parameters):
        method, path = PATHS[command]
        path = path.format(**parameters)
        return self.request(method, f"{self.session}/{path}".removesuffix("/"), parameters)

    def quit(self):
        try:
            self.send("DeleteSession", {})
        finally:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)


ENGINES = {"firefox": Firefox, "webkit": WebKit}
