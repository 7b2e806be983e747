"""The front end by keyboard alone."""
import re

import pytest
import things
from playwright.sync_api import expect
from screens import SCREENS, furnish, settle_map

# Where an element is in the page: one that is drawn anew in the same place counts as the same.
PLACE = """const placeOf = element => !element || element === document.body ? ''
    : `${placeOf(element.parentElement)} ${[...element.parentElement.children].indexOf(element)}`;"""
# What has the focus: where it is in the page, and whether that is seen.
FOCUSED = f"""() => {{ {PLACE}""" + """
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const outlined = one => getComputedStyle(one).outlineStyle !== 'none'
        && parseFloat(getComputedStyle(one).outlineWidth) >= 2;
    // A row shows the focus of its link.
    const seen = outlined(element)
        || [element.closest('li, .row'), element.closest('label')].some(one => one && outlined(one));
    const {width, height} = element.getBoundingClientRect();
    window.stepped ??= [];
    const again = window.stepped.includes(placeOf(element));
    window.stepped.push(placeOf(element));
    return {html: element.outerHTML.slice(0, 140), seen, again,
        visible: width > 1 && height > 1};
}"""
# Controls that a person can use, and that Tab did not reach. In groups, one is reached and arrows lead to the others.
UNREACHED = f"""() => {{ {PLACE}""" + """
    return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(element => !element.disabled
        && !element.closest('[inert], [hidden], dialog:not([open]), [role=menu], [role=listbox]')
        && element.checkVisibility({visibilityProperty: true}) && element.tabIndex >= 0
        && !(element.type === 'radio' && !element.checked) && !window.stepped.includes(placeOf(element)))
    .map(element => element.outerHTML.slice(0, 140));
}"""
# Notes that controls have come, gone or moved since.
WATCH = """() => {
    window.stepped = [];
    window.changed = false;
    new MutationObserver(records => {
        const nodes = records.flatMap(({addedNodes, removedNodes}) => [...addedNodes, ...removedNodes]);
        window.changed ||= nodes.some(node => node.nodeType === 1);
    }).observe(document.body, {subtree: true, childList: true});
}"""


# Tab goes on from where the focus was last, even after it was taken away.
TO_THE_TOP = """document.body.tabIndex = -1;
document.body.focus();
document.body.removeAttribute('tabindex');
scrollTo(0, 0)"""


def steps(page, limit=400):
    """What Tab leads to, until it leaves the page or comes back to where it was."""
    for _ in range(limit):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None or focused["again"]:
            return
        yield focused
    raise AssertionError("Tab does not come to an end")


@pytest.mark.parametrize("name", ["home", "status", "disk-files", "shop", "shop-list", "pdf", "pdf-new", "ships",
                                  "notes", "note-new", "notes-map", "ships-login"])
def test_web_30_tab_leads_to_everything_visibly(visitor, name):
    screen = next(screen for screen in SCREENS if screen.name == name)
    page = screen.open(visitor, furnish(visitor))
    if name == "notes-map":
        settle_map(page)
    # A walk during which something came or went says nothing of what it did not reach: it is walked again.
    for _ in range(5):
        page.evaluate(WATCH)
        page.evaluate(TO_THE_TOP)
        found = list(steps(page))
        unreached = page.evaluate(UNREACHED)
        if not unreached or not page.evaluate("window.changed"):
            break
    assert "#" in found[0]["html"] and "kip" in found[0]["html"], f"first: {found[0]['html']}"
    assert [one["html"] for one in found if not one["seen"] or not one["visible"]] == []
    assert unreached == []


def test_web_30_the_skip_link_leads_past_the_navigation(visitor):
    page = visitor.open("/shop")
    page.evaluate(TO_THE_TOP)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_web_30_the_focus_follows_to_the_new_page(visitor):
    page = visitor.open("/")
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/shop"))
    expect(page.locator("h1")).to_be_focused()


def test_web_30_dialogs_keep_the_focus_and_give_it_back(visitor):
    page = visitor.open("/")
    opener = page.get_by_role("button", name="Menu").first
    opener.focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate("""() => document.activeElement === document.body
            || document.querySelector('dialog[open]').contains(document.activeElement)""")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()


def test_web_30_keys_lead_to_the_apps_and_are_off_in_fields(visitor):
    page = visitor.open("/")
    for key, path in {"s": "/shop", "p": "/pdf", "c": "/status"}.items():
        # Both within 1.2 s, which a machine under load may miss.
        for _ in range(10):
            page.keyboard.press("g")
            page.keyboard.press(key)
            if re.search(f"{path}(/|\\?|$)", page.url):
                break
        page.wait_for_url(re.compile(f"{path}(/|\\?|$)"))
    page.goto("/shop")
    page.locator("h1").wait_for()
    page.keyboard.press("/")
    field = page.get_by_role("searchbox").or_(page.get_by_role("combobox")).first
    expect(field).to_be_focused()
    page.keyboard.type("gs?")
    expect(field).to_have_value("gs?")


def test_web_30_keys_lead_through_rows_open_delete_and_bring_back(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    rows = page.locator(".rows > li:visible")
    rows.nth(2).wait_for()
    names = rows.locator(".row-link").all_inner_texts()
    for key, at in [("j", 0), ("j", 1), ("j", 2), ("k", 1)]:
        page.keyboard.press(key)
        expect(rows.nth(at).locator(".row-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("heading", name=names[1])).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows.nth(1).locator(".row-link")).to_be_focused()
    page.keyboard.press("#")
    expect(page.get_by_role("link", name=names[1], exact=True)).to_have_count(0)
    page.get_by_role("button", name="Undo").wait_for()
    page.keyboard.press("u")
    expect(page.get_by_role("link", name=names[1], exact=True)).to_be_visible()
    # The page may also read the list because of the change.
    def revalidates(request):
        return request.url.endswith("/v1/ships") and request.headers.get("cache-control") == "no-cache"

    with page.expect_request(revalidates):
        page.keyboard.press("r")
    # Rows that a filter hides are not stopped at.
    page.keyboard.press("/")
    page.keyboard.type(names[-1])
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Refresh").focus()
    page.keyboard.press("j")
    expect(rows.first.locator(".row-link")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1280])
def test_web_30_buttons_are_reached_in_the_order_in_which_they_are_seen(visit, larder, width):
    visitor = visit(larder, width=width)
    visitor.log_in("disk")
    things.shopping(visitor, 1)

    def check(box, least):
        # Lines of buttons from above, each from the left.
        names, seen = box.evaluate("""box => {
            const all = [...box.querySelectorAll('button, input')].filter(one => one.checkVisibility());
            const at = one => { const {x, y, height} = one.getBoundingClientRect(); return {x, y: y + height / 2}; };
            const order = (a, b) => (Math.abs(at(a).y - at(b).y) > 20 ? at(a).y - at(b).y : at(a).x - at(b).x);
            const nameOf = one => one.ariaLabel ?? one.textContent;
            return [all.map(nameOf), [...all].sort(order).map(nameOf)];
        }""")
        assert len(names) >= least and names == seen

    page = visitor.open("/shop/list")
    page.locator(".cart-row .line-total").wait_for()
    check(page.locator(".cart-row"), 5)
    page.goto("/shop?q=")
    page.get_by_role("button", name="Filter").click()
    check(page.locator("dialog .form-actions"), 3)
    page.goto("/disk/recent")
    page.get_by_role("button", name="Actions for").first.click()
    page.locator(".menu-item.danger").click()
    check(page.locator("dialog .dialog-actions"), 3)
