"""The Ships app."""
import re

import pytest
from playwright.sync_api import expect

# The first two in the list of the sandbox.
SHIP = "A Gentle Landing, Mostly"


def row(page, name=SHIP):
    return page.get_by_role("link", name=name)


def test_web_23_a_malformed_address_is_marked_at_its_field(visitor):
    page = visitor.open("/ships/login")
    email = page.get_by_label("E-mail")
    email.fill("anna@")
    email.blur()
    expect(email).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Write an address such as")).to_be_visible()
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(email).to_be_focused()
    assert not [url for url in visitor.requests if url.endswith("/v1/ships/session")]
    email.fill("anna@example.com")
    expect(email).to_have_attribute("aria-invalid", "false")
    page.get_by_role("button", name="Log in").click()
    row(page).wait_for()


@pytest.mark.settings(ships_login_delay_ms=60_000)
def test_web_23_a_login_shows_that_it_is_busy_and_can_be_cancelled(visitor):
    page = visitor.open("/ships/login")
    page.get_by_label("E-mail").fill("anna@example.com")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Logging in…")).to_be_disabled()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Log in")).to_be_enabled()
    expect(page.get_by_label("E-mail")).to_have_value("anna@example.com")
    assert page.url.endswith("/ships/login")


def test_web_23_a_guest_that_exits_is_thanked_then_sees_the_login(visitor):
    page = visitor.open("/ships/login")
    page.get_by_role("button", name="Continue as Guest").click()
    row(page).wait_for()
    page.get_by_role("button", name="Exit").click()
    thanks = page.get_by_role("alertdialog")
    expect(thanks).to_contain_text("Thank you for trialing this app")
    expect(thanks).to_contain_text("You are logged out.")
    thanks.get_by_role("button").last.click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    page.go_back()
    expect(row(page)).to_have_count(0)
    page.goto("/ships")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()


def test_web_23_a_password_can_be_looked_at(visitor):
    page = visitor.open("/ships/login")
    password = page.get_by_role("textbox", name="Password")
    password.fill("a secret")
    look = page.get_by_role("button", name="Show what is typed")
    look.click()
    expect(password).to_have_attribute("type", "text")
    look.click()
    expect(password).to_have_attribute("type", "password")
    expect(password).to_have_value("a secret")
    expect(page).to_have_url(re.compile("/ships/login$"))


def test_web_24_a_deletion_is_undone_by_its_toast_or_by_the_key(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    for undo in [lambda: page.get_by_role("button", name="Undo").click(), lambda: page.keyboard.press("u")]:
        page.get_by_role("button", name=f"Delete {SHIP}").click()
        expect(row(page)).to_have_count(0)
        expect(page.get_by_role("button", name="Restore 1 deleted ship")).to_be_visible()
        # The key does what the toast offers.
        page.get_by_role("button", name="Undo").wait_for()
        undo()
        expect(row(page)).to_be_visible()
        expect(page.get_by_role("button", name="Restore 1 deleted ship")).to_have_count(0)


def test_web_24_a_deleted_ship_is_restored_from_its_own_page(visitor):
    visitor.log_in("ships")
    ship = visitor.send("GET", "/v1/ships").json()["data"]["items"][0]
    visitor.send("DELETE", ship["href"])
    page = visitor.open(f"/ships/{ship['id']}")
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("heading", name=SHIP)).to_be_visible()
    page.keyboard.press("Escape")
    expect(row(page)).to_be_visible()
    expect(page).to_have_url(re.compile("/ships$"))


@pytest.mark.parametrize("motion, animated", [("no-preference", True), ("reduce", False)])
def test_web_24_rows_are_animated_unless_less_motion_is_wanted(visit, larder, motion, animated):
    visitor = visit(larder, reduced_motion=motion)
    visitor.context.add_init_script("""const animate = Element.prototype.animate;
        globalThis.animated = [];
        Element.prototype.animate = function (...values) {
            animated.push(this.textContent);
            return animate.apply(this, values);
        };""")
    visitor.log_in("ships")
    page = visitor.open("/ships")
    row(page).wait_for()
    larder.control("PUT", "/spacex/ships/0123456789abcdef01234567", {"name": "Aaa Planted", "type": "Tug"})
    visitor.send("GET", "/v1/ships?refresh=1")
    row(page, "Aaa Planted").wait_for()
    page.get_by_role("button", name=f"Delete {SHIP}").click()
    expect(row(page)).to_have_count(0)
    names = " ".join(page.evaluate("animated"))
    assert ("Aaa Planted" in names, SHIP in names) == (animated, animated)


def test_web_07_pictures_appear_and_those_that_fail_are_placeholders(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    row(page).wait_for()
    # Rows out of sight load their pictures when they are scrolled to.
    page.evaluate("""async () => {
        for (const image of document.images) { image.loading = 'eager'; }
        for (const image of [...document.images]) await image.decode().catch(() => {});
    }""")
    broken = "() => [...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src)"
    assert page.evaluate(broken) == []
    assert page.evaluate("document.images.length") > 3
    page.evaluate("Object.assign(document.images[0], {srcset: '', src: '/v1/ships/nothing/image'})")
    expect(page.locator(".picture-none").first).to_be_visible()
    assert page.evaluate(broken) == []
