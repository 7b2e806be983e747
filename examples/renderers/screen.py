"""Draws any screen of Larder in a terminal, from its response alone: no text is its own."""
import json, sys, urllib.error, urllib.parse, urllib.request


class Terminal:
    """Shows one app. Each line of the input is the number of something that is shown; an empty one requests the screen
    again, `*` shows all screens of the app."""

    def __init__(self, app, base, language="en"):
        self.app, self.base, self.language, self.token = app, base, language, None
        self.index = next(one for one in self.call("GET", "/v1")["data"]["apps"] if one["app"] == app)
        self.choices, self.current = [], None

    def run(self):
        self.open(f"/v1/{self.app}/launch")
        while (line := self.ask("> ")) is not None:
            if line == "*":
                self.tour()
            elif line.isdigit() and 0 < int(line) <= len(self.choices):
                self.choices[int(line) - 1]()
            elif self.current:
                self.open(self.current)

    def ask(self, prompt):
        print(prompt, end="", flush=True)
        line = sys.stdin.readline()
        return line.strip() if line else None

    def call(self, method, href, body=None, headers=()):
        fields = {"Accept": "application/json", "Accept-Language": self.language, **dict(headers)}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, dict):
            fields["Content-Type"], body = "application/json", json.dumps(body).encode()
        request = urllib.request.Request(self.base + href, body, fields, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                content = response.read()
                return json.loads(content) if "json" in response.headers["Content-Type"] else {"bytes": len(content)}
        except urllib.error.HTTPError as error:
            return json.load(error)

    def open(self, href):
        self.show(self.call("GET", href), href)

    def show(self, screen, href=None):
        """Shows a response, or the screen to which it leads."""
        data = screen.get("data") or {}
        route, self.token = data.get("route"), data.get("token") or self.token
        if route and route["method"] == "GET" and (href is None or href.endswith("/launch")):
            return self.open(route["href"])
        if "bytes" in screen:
            return print(screen["bytes"])
        self.current, self.choices = href or screen.get("links", {}).get("self") or self.current, []
        if "dialog" in screen:
            return self.show_problem(screen)
        meta, links = screen["meta"], screen["links"]
        print(f"\n== {meta['title']} ==")
        for text in {(meta["banner"] or {}).get("text"), meta.get("freshness_text")} - {None}:
            print(f"! {text}")
        for tab in links.get("tabs") or []:
            self.choice(tab["title"], lambda href=tab["href"]: self.open(href))
        self.press_later(links.get("search"))
        self.thing(data, meta["labels"], "")
        if empty := data.get("empty"):
            print(empty["title"], empty["text"], sep="\n")
            self.press_later(empty.get("action"))
        if links["next"]:
            self.choice("…", lambda: self.open(links["next"]))

    def show_problem(self, problem):
        dialog = problem["dialog"]
        details = [error["detail"] for error in problem["errors"]]
        print(f"\n== {dialog['title']} ==", dialog["message"], *details, " / ".join(dialog["buttons"]), sep="\n")
        self.actions(problem, "")

    def choice(self, title, press, indent=""):
        self.choices.append(press)
        print(f"{indent}[{len(self.choices)}] {title}")

    def thing(self, thing, labels, indent):
        """Shows the labelled members of the content, a row or an object, its rows and its actions."""
        known = {label["member"]: label for label in labels}
        for label in sorted(known.values(), key=lambda label: label["kind"] != "name"):
            self.member(thing.get(label["member"]), label, thing.get("href"), labels, indent)
        for row in thing["items"] if isinstance(thing.get("items"), list) else []:
            self.thing(row, labels, indent + "  ")
        self.actions(thing, indent)

    def member(self, value, label, href, labels, indent):
        title = f"{label['title']}: " if label["title"] else ""
        if value is None or value is False or value == "" or value == []:
            return
        if title and isinstance(value, (dict, list)):
            print(f"{indent}{title}")
        if value is True:
            print(f"{indent}{label['title']}")
        elif isinstance(value, dict):
            self.thing(value, labels, indent + "  ")
        elif isinstance(value, list):
            for one in value:
                self.member(one, label | {"title": None}, None, labels, indent + "  ")
        elif label["kind"] == "name" and href and indent:
            self.choice(value, lambda: self.open(href), indent)
        else:
            print(f"{indent}<{value}>" if label["kind"] == "picture" else f"{indent}{title}{value}")

    def actions(self, thing, indent):
        for name, member in thing.items():
            for action in member if isinstance(member, list) else [member]:
                if name != "empty" and isinstance(action, dict) and "enabled" in action:
                    self.press_later(action, indent)

    def press_later(self, action, indent=""):
        if action and action["enabled"]:
            self.choice(action["title"], lambda: self.press(action), indent)
        elif action:
            print(f"{indent}- {action['title']} ({action['disabled_reason']})")

    def press(self, action):
        """Asks what is to be asked, and sends the request."""
        if confirm := action["confirm"]:
            print(confirm["message"])
            if self.ask(" / ".join(f"[{at + 1}] {text}" for at, text in enumerate(confirm["buttons"])) + " ") != "1":
                return
        values = {}
        for field in action.get("fields") or []:
            start = field["value"] or ", ".join(field.get("values") or [])
            if (text := self.ask(f"{field['title']}{f' ({start})' if start else ''}: ") or start) or field["required"]:
                values[field["name"]] = self.value(field["kind"], text)
        if action["method"] == "GET":
            mark = "&" if "?" in action["href"] else "?"
            return self.open(action["href"] + (mark + urllib.parse.urlencode(values) if values else ""))
        self.show(self.send(action, values))

    def send(self, action, values):
        body = {**action.get("body", {}), **values}
        return self.call(action["method"], action["href"], body or None, action.get("headers", {}))

    def value(self, kind, text):
        if kind in ("integer", "number"):
            return json.loads(text)
        if kind in ("pages", "items"):
            return [word.strip() for word in text.split(",") if word.strip()]
        return text == "1" if kind == "boolean" else text

    def tour(self):
        for one in self.index["screens"]:
            if one["method"] == "GET" and "title" in one and "{" not in one["href"]:
                self.open(one["href"])
