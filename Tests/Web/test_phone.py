"""The narrowest phone that is common: 360 px. Nothing is wider than it, and nothing is cut off."""
import pytest
import layout
from screens import SCREENS, furnish
from test_screens import check

PHONE = {"width": 360, "height": 740}
# The screens that a person has open most; each app has one.
MAIN = [screen for screen in SCREENS if screen.name in {
    "home", "status", "disk-files", "shop", "shop-list", "pdf", "ships", "notes", "note-new", "notes-map"}]


def narrow(visitor, furnished, screens):
    """What is cut on screens, with the details of their chips open as well."""
    for screen in screens:
        page = screen.open(visitor, furnished)
        yield from (f"{screen.name}: {one}" for one in layout.cut(page))
        chip = page.locator("dialog[open] .chip:visible, body:not(:has(dialog[open])) .chip:visible").first
        if chip.count():
            chip.click()
            page.locator(".popup").wait_for()
            yield from (f"{screen.name}, details: {one}" for one in layout.cut(page))
        page.close()


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_31_nothing_is_cut_on_a_narrow_phone(visit, larder, locale):
    visitor = visit(larder, locale=locale, **PHONE)
    check(list(narrow(visitor, furnish(visitor), SCREENS)))


def test_web_31_nothing_is_cut_on_a_narrow_phone_while_all_sources_are_gone(visit, larder):
    """In the language of the longer words."""
    visitor = visit(larder, locale="ru-RU", **PHONE)
    furnished = furnish(visitor)
    for screen in MAIN:
        screen.open(visitor, furnished).close()
    for upstream in larder.control("GET", "")["upstreams"]:
        visitor.send("PUT", f"/v1/sandbox/upstreams/{upstream['name']}/fault", {"fault": "offline"})
    check(list(narrow(visitor, furnished, MAIN)))
