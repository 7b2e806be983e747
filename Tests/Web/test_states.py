"""States that a screen is in for a while: loading, empty, failed, offline, with a dialog or a menu open."""
import re

import axe
import pytest
from playwright.sync_api import expect
from screens import furnish

SHIP = "A Gentle Landing, Mostly"


@pytest.mark.settings(upstreams_spacex_patience_ms=60_000)
def test_web_29_32_a_screen_that_loads_says_so_once(visitor, larder):
    visitor.log_in("ships")
    larder.fault("spacex", "hold")
    page = visitor.context.new_page()
    page.goto("/ships")
    expect(page.locator(".skeleton")).to_be_visible()
    assert page.get_by_text("Loading…").count() == 1
    expect(page.locator(".skeleton [role=status]")).to_have_text("Loading…")
    axe.check(page)
    larder.fault("spacex", "online")
    larder.control("POST", "/upstreams/spacex/release")
    page.get_by_role("link", name=SHIP).wait_for()
    expect(page.get_by_text("Loading…")).to_have_count(0)


def test_web_29_32_a_failure_is_an_alert_with_the_words_of_the_server(visitor, larder):
    larder.fault("catalogue", "error(500)")
    page = visitor.open("/shop/1")
    expect(page.get_by_role("alert").filter(has_text=re.compile(r"\w{3}")).first).to_be_visible()
    axe.check(page)


def test_web_29_empty_screens(visitor):
    visitor.log_in("notes")
    for path, text in {"/notes": "No Notes Yet", "/pdf": "No documents yet", "/shop/list": None}.items():
        if path == "/pdf":
            visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
        page = visitor.open(path)
        expect(page.locator(".state h2")).to_have_text(text or re.compile(r"\w"))
        axe.check(page)


@pytest.mark.parametrize("locale, said", [("en-GB", "There is no such page"), ("ru-RU", "Такой страницы нет")])
def test_web_29_32_an_address_that_has_nothing_is_a_page_with_status_404(visit, larder, locale, said):
    visitor = visit(larder, locale=locale)
    for path in ["/nowhere/at/all", "/disk/nowhere", "/shop/"]:
        visitor.missing.append(larder.url + path)
        page = visitor.context.new_page()
        assert page.goto(path).status == 404
        expect(page.locator("h1")).to_have_text(said)
        expect(page.get_by_text(path, exact=True)).to_be_visible()
        axe.check(page)
    page.locator(".state a").click()
    expect(page).to_have_url(larder.url + "/")


@pytest.mark.parametrize("width, scheme", [(390, "light"), (1280, "dark")])
def test_web_29_32_offline_is_said_politely(visit, larder, width, scheme):
    visitor = visit(larder, width=width, scheme=scheme)
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.get_by_role("link", name=SHIP).wait_for()
    larder.fault("spacex", "offline")
    visitor.send("GET", "/v1/ships?refresh=1")
    expect(page.locator("[role=status] .banner")).to_be_visible()
    axe.check(page)
    larder.stop()
    expect(page.get_by_role("status").filter(has_text="Larder does not answer")).to_be_visible()
    axe.check(page)


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (1280, "light")])
def test_web_29_30_what_lies_over_a_screen(visit, larder, width, scheme):
    """Menus, details of a chip, dialogs and sheets: no rule is broken, Escape closes, the focus returns."""
    visitor = visit(larder, width=width, scheme=scheme)
    furnish(visitor)
    for path, opener in [
        ("/", lambda page: page.get_by_role("button", name="Menu")),
        ("/ships", lambda page: page.locator(".chip").first),
        ("/shop", lambda page: page.get_by_role("button", name="Filter")),
        ("/pdf", lambda page: page.get_by_role("button", name=re.compile("Actions for")).first),
        ("/notes", lambda page: page.get_by_role("button", name="Delete note").first),
        ("/disk/files", lambda page: page.get_by_role("button", name="New folder")),
        ("/disk/files", lambda page: page.get_by_role("button", name=re.compile("Actions for")).first),
    ]:
        page = visitor.open(path)
        button = opener(page)
        button.focus()
        page.keyboard.press("Enter")
        over = page.locator("dialog[open], :popover-open").first
        over.wait_for()
        axe.check(page)
        page.keyboard.press("Escape")
        expect(over).to_have_count(0)
        expect(button).to_be_focused()
        page.close()


def test_web_32_what_is_said_while_a_dialog_is_open_is_in_it(visitor):
    """All else is below a dialog, for the eye and for a screen reader."""
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.get_by_role("button", name=re.compile("Actions for")).first.click()
    page.get_by_role("menuitem", name="Share link").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Create the link").click()
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    axe.check(page)
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    expect(page.locator("body > #toasts")).to_have_count(1)


def test_web_29_the_button_of_a_toast_is_read_below_the_pointer(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.get_by_role("button", name=f"Delete {SHIP}").click()
    # A toast that is pointed at stays.
    page.get_by_role("button", name="Undo").hover()
    axe.check(page)


@pytest.mark.settings(ships_login_delay_ms=60_000)
def test_web_29_32_a_form_that_is_sent_says_so(visitor):
    page = visitor.open("/ships/login")
    page.get_by_label("E-mail").fill("anna@example.com")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("[aria-busy=true]")).to_have_count(1)
    axe.check(page)


@pytest.mark.settings(notes_attempts_per_account=1)
def test_web_28_a_pause_that_the_server_wants_is_shown(visitor):
    visitor.send("POST", "/v1/notes/session", {"mode": "register", "username": "anna", "password": "correct horse"})
    page = visitor.open("/notes/login")
    for _ in range(2):
        page.get_by_role("textbox", name="User name").fill("anna")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign In").click()
        alert = page.get_by_role("alert")
        alert.wait_for()
        said = alert.inner_text()
    assert re.search(r"too many|later|minute|second|wait", said, re.I), said


def test_web_28_try_again_counts_down(visitor, larder):
    larder.fault("people", "error(503, 60)")
    visitor.log_in("notes")
    page = visitor.open("/notes/people")
    again = page.get_by_role("button", name=re.compile(r"Try again in \d+ s"))
    expect(again).to_be_disabled()
    number = re.compile(r"\d+")
    first = int(number.search(again.inner_text()).group())
    page.wait_for_function("first => Number(/\\d+/.exec([...document.querySelectorAll('button')]"
                           ".find(one => /Try again in/.test(one.textContent)).textContent)[0]) < first", arg=first)
    axe.check(page)
