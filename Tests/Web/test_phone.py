"""The narrowest phone that is common: 360 px. Nothing is wider than it, and nothing is cut off."""
import pytest
import layout
import things
from playwright.sync_api import expect
from screens import SCREENS, furnish, settle
from test_screens import check

PHONE = {"width": 360, "height": 740}


def narrow(visitor, furnished, state):
    """What is cut on each screen, with the details of its chip open as well."""
    for screen in SCREENS:
        page = screen.open(visitor, furnished)
        yield from (f"{screen.name} {state}: {one}" for one in layout.cut(page))
        chip = page.locator(".chip:visible").last
        if chip.count():
            chip.click()
            page.locator(".popup").wait_for()
            yield from (f"{screen.name} {state}, details: {one}" for one in layout.cut(page))
        page.close()


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_31_nothing_is_cut_on_a_narrow_phone(visit, larder, locale):
    """Every screen in both languages, as its source responds and after all of them have gone."""
    visitor = visit(larder, locale=locale, **PHONE)
    furnished = furnish(visitor)
    wrong = list(narrow(visitor, furnished, "online"))
    for upstream in larder.control("GET", "")["upstreams"]:
        visitor.send("PUT", f"/v1/sandbox/upstreams/{upstream['name']}/fault", {"fault": "offline"})
    wrong += narrow(visitor, furnished, "offline")
    check(wrong)
