"""Draws any screen of Larder in a terminal, from its response alone: no text is its own."""
import json, sys, urllib.parse
from larder import Larder


class Terminal:
    """Shows one app. Each line of the input is the number of something that is shown; an empty one requests the screen
    again, `*` shows all screens of the app."""

    @classmethod
    def main(cls, app):
        try:
            cls(app, *sys.argv[1:3]).run()
        except (OSError, ValueError, TypeError, KeyError) as error:  # No address, no server, or one of another kind.
            sys.exit(f"{sys.argv[0]} URL [LANGUAGE]: {error}")

    def __init__(self, app, base, language="en"):
        self.app, self.larder, self.choices, self.current = app, Larder(base, language), [], None
        self.index = next(one for one in self.larder.call("GET", "/v1")["data"]["apps"] if one["app"] == app)

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
        return line.strip() if (line := sys.stdin.readline()) else None

    def open(self, href):
        self.show(self.larder.call("GET", href), href)

    def show(self, screen, href=None):
        """Shows a response, or the screen to which it leads."""
        data = screen.get("data") or {}
        route, self.larder.token = data.get("route"), data.get("token") or self.larder.token
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
        details = [error["detail"] for error in problem["errors"]] + [" / ".join(dialog["buttons"])]
        print(f"\n== {dialog['title']} ==", dialog["message"], *details, sep="\n")
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
        if value in (None, "", []) or value is False:
            return
        if title and isinstance(value, (dict, list)):
            print(f"{indent}{title}")
        if isinstance(value, dict):
            self.thing(value, labels, indent + "  ")
        elif isinstance(value, list):
            for one in value:
                self.member(one, label | {"title": None}, None, labels, indent + "  ")
        elif label["kind"] == "name" and href and indent:
            self.choice(value, lambda: self.open(href), indent)
        else:
            text = label["title"] if value is True else f"{title}{value}"
            print(f"{indent}<{value}>" if label["kind"] == "picture" else f"{indent}{text}")

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
            buttons = " / ".join(f"[{at + 1}] {text}" for at, text in enumerate(confirm["buttons"]))
            if self.ask(f"{confirm['message']}\n{buttons} ") != "1":
                return
        values = {}
        for field in action.get("fields") or []:
            values |= self.typed(field)
        if action["method"] == "GET":
            mark = "&" if "?" in action["href"] else "?"
            return self.open(action["href"] + (mark + urllib.parse.urlencode(values) if values else ""))
        self.show(self.send(action, values))

    def send(self, action, values):
        body = {**action.get("body", {}), **values} or None
        return self.larder.call(action["method"], action["href"], body, action.get("headers", {}))

    def typed(self, field):
        """Asks until the text can be a value of the field; returns it with its name, or nothing."""
        start = field["value"] or ", ".join(field.get("values") or [])
        while (line := self.ask(f"{field['title']}{f' ({start})' if start else ''}: ")) is not None:
            try:
                isSent = line or start or field["required"]
                return {field["name"]: self.value(field["kind"], line or start)} if isSent else {}
            except (ValueError, OSError):
                continue  # It asks again: no response has a text for it.
        sys.exit()

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
