"""Every screen in a state that is worth looking at: for axe, for layouts, for pictures."""
from urllib.parse import quote

import things

ROOT = "disk:/"


class Screen:
    """A screen: its address, an element that it has once it is drawn, and the folded parts that are opened then."""

    def __init__(self, name, path, ready=None, folded=None):
        self.name, self.path, self.ready, self.folded = name, path, ready, folded

    def __repr__(self):
        return self.name

    def open(self, visitor, furnished):
        page = visitor.open(self.path.format(**furnished))
        if self.ready:
            page.locator(self.ready).first.wait_for()
        settle(page)
        if self.folded:
            for summary in page.locator(self.folded).all():
                summary.click()
            settle(page)
        return page


# Nothing is busy, and every picture in sight is there or replaced.
SETTLED = """() => document.querySelector('.page-body')
    && [...document.querySelectorAll('.page-body')].every(body => body.childElementCount > 0)
    && !document.querySelector('.skeleton, [aria-busy=true]')
    && [...document.images].every(image => image.complete || image.getBoundingClientRect().top > innerHeight)"""


def settle(page):
    """Waits until a page shows all that it asked for."""
    page.wait_for_function(SETTLED)


def settle_map(page):
    """Waits until a map shows its own part of the world, and the list beside it the same."""
    page.wait_for_function("""() => {
        const {view: {width, zoom}} = document.querySelector('larder-map');
        const shown = new URLSearchParams(location.search).get('zoom');
        return width > 0 && shown === zoom.toFixed(2) && !document.querySelector('.map-side[aria-busy=true]');
    }""")


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
    Screen("status", "/status", ".meter", "details.card > summary"),
    Screen("docs", "/docs", "details"),
    Screen("ship-missing", "/ships/nothing", ".state-problem"),
    Screen("disk-onboarding", "/disk/onboarding", ".dots"),
    Screen("disk-login", "/disk/login"),
    Screen("disk-recent", "/disk/recent", ".rows > li"),
    Screen("disk-files", "/disk/files", ".rows > li"),
    Screen("disk-folder", "/disk/files?path=" + quote(ROOT + "Имена", safe=""), ".rows > li"),
    Screen("disk-search", "/disk/search?q=pdf", ".rows > li, .state"),
    Screen("disk-published", "/disk/published", ".rows > li"),
    Screen("disk-outbox", "/disk/outbox", ".state"),
    Screen("disk-trash", "/disk/trash", ".rows > li, .state"),
    Screen("disk-profile", "/disk/profile", ".legend"),
    Screen("shop", "/shop?q=", ".product"),
    Screen("shop-search", "/shop?q=chair", ".product, .state"),
    Screen("shop-nothing", "/shop?q=zzzz", ".state"),
    Screen("shop-product", "/shop/1", ".prose"),
    Screen("shop-list", "/shop/list", ".rows > li"),
    Screen("pdf-welcome", "/pdf/welcome", ".features"),
    Screen("pdf", "/pdf", ".rows > li"),
    Screen("pdf-new", "/pdf/new"),
    Screen("pdf-reader", "/pdf/{document}", ".leaf-item img"),
    Screen("pdf-pages", "/pdf/{document}?view=pages", ".tiles .leaf-item img"),
    Screen("ships-login", "/ships/login"),
    Screen("ships", "/ships", ".rows > li"),
    Screen("ship", "/ships/{ship}", ".ship-facts"),
    Screen("notes-login", "/notes/login"),
    Screen("notes", "/notes", ".rows > li"),
    Screen("note", "/notes/{note}", ".note-body"),
    Screen("note-new", "/notes/new", "textarea"),
    Screen("notes-map", "/notes/map", ".map-pin"),
    Screen("notes-people", "/notes/people", ".rows > li"),
    Screen("notes-person", "/notes/people/{person}"),
]
