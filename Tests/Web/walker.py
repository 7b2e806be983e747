"""A person at a browser that WebDriver drives: what visitor.py is for Playwright, as far as the short walk needs it."""
import base64, json, pathlib, shutil

from engines import ELEMENT, Refused, until
from larder import LOGINS

# Put before the first module of the pages, so that it hears what their scripts do wrong, in each document anew.
WATCH = """{
  const said = JSON.parse(sessionStorage.getItem('test.faults') ?? '[]');
  const say = text => { said.push(text); sessionStorage.setItem('test.faults', JSON.stringify(said)); };
  const {error} = console;
  console.error = (...values) => { say(`console: ${values.join(' ')}`); error.apply(console, values); };
  addEventListener('error', event => {
    if (event.target === window) say(`exception: ${event.message} ${event.filename}:${event.lineno}`);
    else if (event.target.matches('script, link')) say(`not loaded: ${event.target.src ?? event.target.href}`);
  }, true);
  addEventListener('unhandledrejection', event => say(`rejection: ${event.reason} ${event.reason?.stack}`));
  addEventListener('securitypolicyviolation', event => say(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  addEventListener('plant', ({detail}) => ({
    console: () => console.error('planted'), rejection: () => { Promise.reject(new Error('planted')); },
    exception: () => { setTimeout(() => { throw new Error('planted'); }); },
  })[detail]());
}
"""
# The first element in sight of a role and a name, as far as these pages need their rules.
FIND = """const [role, name] = arguments;
const all = {link: 'a[href]', button: 'button, [role=button]', heading: 'h1, h2, h3', option: '[role=option]',
  textbox: 'input, textarea', combobox: 'select, [role=combobox]', menuitem: '[role^=menuitem]', file: '[type=file]'};
const nameOf = element => element.getAttribute('aria-label') || element.labels?.[0]?.textContent || element.textContent;
return [...document.querySelectorAll(all[role])].find(element =>
  nameOf(element).replace(/\\s+/g, ' ').trim() === name && (role === 'file' || element.checkVisibility())
  && !element.disabled && !element.closest('[inert]')) ?? null;"""
REQUEST = """const [method, path, body] = arguments;
const request = new XMLHttpRequest();
request.open(method, path, false);
request.setRequestHeader('Larder-Session', 'cookie');
if (body !== null) request.setRequestHeader('Content-Type', 'application/json');
request.send(body);
return [request.status, request.responseText];"""


def watched(site, folder):
    """Copies the pages to a folder, with ears."""
    copy = shutil.copytree(site, folder)
    first = pathlib.Path(copy, "dom.js")
    first.write_text(WATCH + first.read_text(encoding="utf-8"), encoding="utf-8")
    return copy


class Answer:
    """The response of Larder to a request of the browser."""

    def __init__(self, text):
        self.text = text

    def json(self):
        return json.loads(self.text)


class Walker:
    """One tab; requests of tests carry the cookies of the browser."""

    def __init__(self, browser, larder):
        self.browser, self.larder = browser, larder
        self.size(1280, 800)
        self.open("/")

    def size(self, width, height):
        self.browser.send("SetWindowRect", {"width": width, "height": height})

    def open(self, path):
        self.browser.send("Navigate", {"url": self.larder.url + path})
        self.wait("return document.querySelector('h1') !== null", path)

    def run(self, script, *values):
        return self.browser.send("ExecuteScript", {"script": script, "args": list(values)})

    def wait(self, script, *values):
        """Waits until a script gives something."""
        def page():
            text = self.run("return location + '\\n' + document.body.innerText.slice(0, 2000)")
            return f"{script} {values}\n{text}\n{self.faults()}"
        return until(lambda: self.run(script, *values), page)

    def there(self, selector):
        return self.wait("return document.querySelector(arguments[0])?.checkVisibility() ?? false", selector)

    def gone(self, selector):
        self.wait("return document.querySelector(arguments[0]) === null", selector)

    def see(self, text):
        self.wait("return document.body.innerText.includes(arguments[0])", text)

    def miss(self, text):
        self.wait("return !document.body.innerText.includes(arguments[0])", text)

    def heading(self, text):
        self.wait("return document.querySelector('h1')?.innerText.includes(arguments[0])", text)

    def find(self, role, name):
        return self.wait(FIND, role, name)

    def act(self, command, role, name, **values):
        """Does something with an element; once more if the page draws it anew meanwhile."""
        def done():
            element = self.find(role, name)
            try:
                self.browser.send(command, {"id": element[ELEMENT], **values})
                return True
            except Refused as refused:
                problems.append(str(refused))
                return False
        problems = []
        until(done, lambda: f"{command} {role} {name}: {problems[-1]}")

    def click(self, role, name):
        self.act("ElementClick", role, name)

    def type(self, role, name, text):
        self.act("ElementSendKeys", role, name, text=text, value=list(text))

    def pick(self, button, file):
        """Presses a button that opens a picker, and gives a file to its field instead: WebDriver sees no picker."""
        self.run("HTMLInputElement.prototype.click = function () { this.id = 'picker'; document.body.append(this); }")
        self.click("button", button)
        element = self.wait("return document.getElementById('picker')")
        self.browser.send("ElementSendKeys", {"id": element[ELEMENT], "text": str(file), "value": list(str(file))})
        self.run("document.getElementById('picker')?.remove()")

    def press(self, key):
        """Presses a key, such as Escape, wherever the focus is."""
        key = {"Escape": "\ue00c", "Enter": "\ue007", "ArrowRight": "\ue014"}.get(key, key)
        actions = [{"type": kind, "value": key} for kind in ["keyDown", "keyUp"]]
        self.browser.send("PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def send(self, method, path, body=None):
        status, text = self.run(REQUEST, method, path, None if body is None else json.dumps(body))
        assert status < 300, f"{method} {path}: {status} {text[:500]}"
        return Answer(text)

    def log_in(self, *apps):
        for app in apps:
            self.send("POST", f"/v1/{app}/session", LOGINS[app])

    def faults(self):
        """What the scripts of the pages did wrong so far."""
        return self.run("return JSON.parse(sessionStorage.getItem('test.faults') ?? '[]')")

    def forget(self):
        """Ends with an empty page, so that the next test has no page of this one."""
        self.run("sessionStorage.clear(); localStorage.clear()")
        self.browser.send("Navigate", {"url": "about:blank"})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.browser.send("TakeScreenshot", {"full": False})))
