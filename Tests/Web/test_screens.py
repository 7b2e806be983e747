"""What holds for every screen: rules of accessibility, layouts, names, the policy of the pages."""
import re

import axe, layout
import pytest
from screens import SCREENS, furnish, settle

WIDTHS = [320, 390, 768, 1280]
# The screens that a person has open most; each app has one.
MAIN = [screen for screen in SCREENS if screen.name in {
    "home", "status", "disk-files", "shop", "shop-list", "pdf", "ships", "notes", "note-new", "notes-map"}]


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


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (390, "dark")])
def test_web_29_axe_finds_nothing_on_any_screen(visit, larder, width, scheme):
    wrong = walk(visit(larder, width=width, scheme=scheme), SCREENS, axe.violations)
    check(wrong)


@pytest.mark.parametrize("width, scheme", [(1280, "dark"), (390, "light")])
def test_web_29_the_other_scheme_too(visit, larder, width, scheme):
    wrong = walk(visit(larder, width=width, scheme=scheme), MAIN, axe.violations)
    check(wrong)


def test_web_31_no_screen_scrolls_sideways_and_targets_are_large(visit, larder):
    def look(page):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            yield from (f"{width} px: {one}" for one in layout.wider(page))
            yield from (f"{width} px, small: {one}" for one in layout.smaller(page))
        for width in [390, 1280]:
            page.set_viewport_size({"width": width, "height": 800})
            layout.enlarge_text(page, 200)
            yield from (f"{width} px, large text: {one}" for one in layout.wider(page))

    wrong = walk(visit(larder, width=320), SCREENS, lambda page: list(look(page)))
    check(wrong)


def test_web_31_main_actions_are_44_pixels_and_nothing_is_covered(visit, larder):
    def look(page):
        yield from (f"below 44: {one}" for one in layout.smaller(page, 44, layout.MAIN))
        yield from (f"covered: {one}" for one in layout.covered(page))

    wrong = walk(visit(larder, width=390, height=844), SCREENS, lambda page: list(look(page)))
    check(wrong)


def test_web_32_each_page_has_its_heading_landmarks_title_and_language(visit, larder):
    titles = {}

    def look(page):
        found = layout.structure(page)
        titles.setdefault(found["title"], []).append(page.url)
        if len(found["headings"]) != 1 or not found["headings"][0]:
            yield f"h1: {found['headings']}"
        if found["mains"] != 1:
            yield f"{found['mains']} main"
        if not found["navigations"] or not all(found["navigations"]):
            yield f"navigations: {found['navigations']}"
        if not re.search(r"\S · Larder$|^Larder$", found["title"]):
            yield f"title: {found['title']}"
        if found["language"] != "en":
            yield f"lang: {found['language']}"
        if not found["live"]:
            yield "no live region"

    wrong = walk(visit(larder), SCREENS, lambda page: list(look(page)))
    check(wrong)


def test_web_32_pages_are_in_the_language_of_the_browser(visit, larder):
    page = visit(larder, locale="ru-RU").open("/")
    assert layout.structure(page)["language"] == "ru"
    page.get_by_role("link", name="Заметки").first.wait_for()


def test_web_02_a_walk_breaks_no_policy_and_leaves_for_nowhere(visit, larder):
    visitor = visit(larder, locale="ru-RU")
    missing = []
    visitor.context.on("response", lambda response: response.status == 404 and missing.append(response.url))
    wrong = walk(visitor, SCREENS, lambda page: [])
    # What the console says fails the test by itself.
    assert not wrong and visitor.foreign() == []


def test_web_02_scripts_of_others_do_not_run(visitor, larder):
    page = visitor.open("/")
    tried = page.evaluate("""async () => {
        const script = document.createElement('script');
        const tried = {};
        try { script.text = 'globalThis.planted = 1'; document.body.append(script); } catch (error) { tried.text = error.name; }
        try { document.body.innerHTML = '<b>planted</b>'; } catch (error) { tried.html = error.name; }
        const image = document.createElement('img');
        image.setAttribute('onerror', 'globalThis.planted = 1');
        await import('/v1/upstreams/catalogue/evil.js').catch(error => { tried.import = error.name; });
        return {...tried, planted: globalThis.planted ?? null};
    }""")
    assert tried == {"text": "TypeError", "html": "TypeError", "import": "TypeError", "planted": None}
    heard, visitor.faults[:] = visitor.faults[:], []
    assert heard
