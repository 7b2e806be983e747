"""Every screen in a state that is worth looking at: for axe, for layouts, for pictures."""
from urllib.parse import quote

import things

ROOT = "disk:/"


class Screen:
    """A screen: where it is, whose session it needs, and what is done once it is open."""

    def __init__(self, name, path, app=None, act=None):
        self.name, self.path, self.app, self.act = name, path, app, act

    def __repr__(self):
        return self.name

    def open(self, visitor, furnished):
        page = visitor.open(self.path.format(**furnished))
        settle(page)
        if self.act:
            self.act(page)
        return page


def settle(page):
    """Waits until a page shows what it asked for: nothing is busy, every picture is there or replaced."""
    page.wait_for_function("""() => document.querySelector('.page-body')
        && [...document.querySelectorAll('.page-body')].every(body => body.childElementCount > 0)
        && !document.querySelector('.skeleton, [aria-busy=true]')
        && [...document.images].every(image => image.complete || image.loading === 'lazy')""")


def disk(path):
    return "/disk/file?path=" + quote(path, safe="")


def furnish(visitor, *apps):
    """Logs in and fills the apps; what the addresses of screens name."""
    visitor.log_in(*(apps or ["ships", "disk", "notes"]))
    found = {"document": things.document(visitor.larder), "note": "n1", "ship": "none", "person": "1"}
    things.shopping(visitor)
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    if not apps or "notes" in apps:
        found["note"] = things.notes(visitor)[0]
        found["person"] = visitor.send("GET", "/v1/notes/people").json()["data"]["items"][0]["id"]
    if not apps or "ships" in apps:
        found["ship"] = visitor.send("GET", "/v1/ships").json()["data"]["items"][0]["id"]
    return found


SCREENS = [
    Screen("home", "/"),
    Screen("status", "/status"),
    Screen("ship-missing", "/ships/nothing", "ships"),
    Screen("disk-onboarding", "/disk/onboarding"),
    Screen("disk-login", "/disk/login"),
    Screen("disk-recent", "/disk/recent", "disk"),
    Screen("disk-files", "/disk/files", "disk"),
    Screen("disk-folder", "/disk/files?path=" + quote(ROOT + "Имена", safe=""), "disk"),
    Screen("disk-search", "/disk/search?query=pdf", "disk"),
    Screen("disk-published", "/disk/published", "disk"),
    Screen("disk-trash", "/disk/trash", "disk"),
    Screen("disk-profile", "/disk/profile", "disk"),
    Screen("shop", "/shop"),
    Screen("shop-search", "/shop?q=chair"),
    Screen("shop-nothing", "/shop?q=zzzz"),
    Screen("shop-product", "/shop/1"),
    Screen("shop-list", "/shop/list"),
    Screen("pdf-welcome", "/pdf/welcome"),
    Screen("pdf", "/pdf"),
    Screen("pdf-new", "/pdf/new"),
    Screen("pdf-reader", "/pdf/{document}"),
    Screen("ships-login", "/ships/login"),
    Screen("ships", "/ships", "ships"),
    Screen("ship", "/ships/{ship}", "ships"),
    Screen("notes-login", "/notes/login"),
    Screen("notes", "/notes", "notes"),
    Screen("note", "/notes/{note}", "notes"),
    Screen("note-new", "/notes/new", "notes"),
    Screen("notes-map", "/notes/map", "notes"),
    Screen("notes-people", "/notes/people", "notes"),
    Screen("notes-person", "/notes/people/{person}", "notes"),
]
