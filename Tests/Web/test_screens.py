"""What holds for every screen: rules of accessibility, layouts, names, the policy of the pages."""
import re
from urllib.parse import urlsplit

import axe, layout
import pytest
from playwright.sync_api import expect
from screens import SCREENS, furnish, settle

WIDTHS = [320, 390, 768, 1280]


def walk(visitor, screens, look):
    """Opens screens and looks at each; what is wrong, by screen."""
    furnished = furnish(visitor)
    wrong = []
    for screen in screens:
        page = screen.open(visitor, furnished)
        wrong += [f"{screen.name}: {fault}" for fault in look(page)]
        page.close()
    return wrong


def check(wrong):
    """Fails with what is wrong, each fault once with the screens that have it."""
    screens = {}
    for fault in wrong:
        name, _, what = fault.partition(": ")
        screens.setdefault(what, []).append(name)
    assert not wrong, "\n".join(f"{', '.join(dict.fromkeys(names))}: {what}" for what, names in screens.items())


def narrow(page):
    """Faults of the layout from the smallest window to a large one, and with text of double size."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        yield from (f"{width} px: {one}" for one in layout.wider(page))
        yield from (f"{width} px, small: {one}" for one in layout.smaller(page))
    for width in [390, 1280]:
        page.set_viewport_size({"width": width, "height": 800})
        layout.enlarge_text(page, 200)
        yield from (f"{width} px, large text: {one}" for one in layout.wider(page))


def named(page):
    """Faults of what a screen reader says first of a page."""
    found = layout.structure(page)
    if len(found["headings"]) != 1 or not found["headings"][0]:
        yield f"h1: {found['headings']}"
    if found["mains"] != 1:
        yield f"{found['mains']} main"
    if not found["navigations"] or not all(found["navigations"]):
        yield f"navigations: {found['navigations']}"
    if not re.search(r"\S · Larder$|^Larder$", found["title"]):
        yield f"title: {found['title']}"
    if found["language"] != page.evaluate("navigator.language").split("-")[0]:
        yield f"lang: {found['language']}"
    if not found["live"]:
        yield "no live region"


def test_web_29_31_32_every_screen_on_a_desktop_light_and_dark(visit, larder):
    def look(page):
        yield from axe.violations(page)
        yield from axe.pale(page)
        yield from named(page)
        yield from narrow(page)

    check(walk(visit(larder), SCREENS, look))


def test_web_02_29_31_every_screen_on_a_phone_light_and_dark_in_russian(visit, larder):
    """Longer words in other letters; nothing that a page may not do is tried, nothing is asked of others."""
    def look(page):
        yield from axe.violations(page)
        yield from named(page)
        yield from layout.wider(page)
        yield from (f"below 44: {one}" for one in layout.smaller(page, 44, layout.MAIN))
        yield from (f"covered: {one}" for one in layout.covered(page))

    visitor = visit(larder, width=390, height=844, scheme="dark", locale="ru-RU")
    missing = []
    visitor.context.on("response", lambda response: response.status == 404 and missing.append(response.url))
    # What the console says fails the test by itself.
    check(walk(visitor, SCREENS, look))
    assert visitor.foreign() == []
    assert [url for url in missing if not url.endswith("/ships/nothing")] == []


def test_web_32_pages_are_in_the_language_of_the_browser(visit, larder):
    page = visit(larder, locale="ru-RU").open("/")
    assert layout.structure(page)["language"] == "ru"
    page.get_by_role("link", name="Заметки").first.wait_for()


def test_web_01_the_address_that_the_server_prints_shows_the_apps(visit, larder):
    visitor = visit(larder)
    missing = []
    visitor.context.on("response", lambda response: response.status == 404 and missing.append(response.url))
    page = visitor.context.new_page()
    page.goto(larder.pages)
    expect(page.locator(".home-cards h2")).to_have_text(["Disk", "Shop", "PDF", "Ships", "Notes", "Control room"])
    expect(page.get_by_role("heading", name="Start here")).to_be_visible()
    page.get_by_role("button", name="Look at the ships as a guest").click()
    page.locator(".rows > li").first.wait_for()
    settle(page)
    own = urlsplit(larder.pages).netloc
    assert [url for url in visitor.requests if url.startswith("http") and urlsplit(url).netloc != own] == []
    assert missing == [] and " status=404" not in larder.log()


def test_web_02_scripts_of_others_do_not_run(visitor, larder):
    page = visitor.open("/")
    tried = page.evaluate("""async () => {
        const script = document.createElement('script');
        const tried = {};
        try { script.text = 'globalThis.planted = 1'; } catch (error) { tried.text = error.name; }
        try { document.body.innerHTML = '<b>planted</b>'; } catch (error) { tried.html = error.name; }
        const image = document.createElement('img');
        try { image.setAttribute('onerror', 'globalThis.planted = 1'); } catch (error) { tried.attribute = error.name; }
        await import('/v1/upstreams/catalogue/evil.js').catch(error => { tried.import = error.name; });
        return {...tried, planted: globalThis.planted ?? null};
    }""")
    assert tried == {name: "TypeError" for name in ["text", "html", "attribute", "import"]} | {"planted": None}
    assert visitor.take_faults(page)
