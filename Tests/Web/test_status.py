"""The control room."""
import re

import layout
import things
from playwright.sync_api import expect


def card(page, name):
    return page.locator(f".upstream[data-name={name}]")


def test_web_27_each_upstream_changes_live(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/status")
    ships = visitor.open("/ships")
    ships.get_by_role("link", name="A Gentle Landing, Mostly").wait_for()
    expect(card(page, "spacex")).to_contain_text("Responds")
    # The log has what is heard from now on.
    things.wait_for_stream(page)
    larder.fault("spacex", "offline")
    visitor.send("GET", "/v1/ships?refresh=1")
    expect(card(page, "spacex")).to_contain_text("Offline")
    expect(page.get_by_role("list", name="Events")).to_contain_text("connectivity")
    # Each fault of a connection has words of its own.
    expect(card(page, "spacex")).to_contain_text("connection broke off")
    larder.fault("spacex", "refused")
    visitor.send("GET", "/v1/ships?refresh=1")
    expect(card(page, "spacex")).to_contain_text("connection refused")
    larder.fault("spacex", "online")
    expect(card(page, "spacex")).to_contain_text("Responds")
    expect(page.get_by_text("Requests by route", exact=True)).to_be_visible()


def test_web_37_a_source_that_responds_with_errors_is_told_as_such_everywhere(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/")
    pill, home = page.locator(".pulse"), page.locator(".home-card[data-app=ships]")
    expect(pill).to_have_text("No source was asked yet")
    expect(home).to_contain_text("Not asked yet")
    larder.fault("spacex", "error(503)")
    page.locator(".home-card[data-app=ships] a").click()
    expect(pill).to_have_text("1 source responds with errors")
    page.locator(".brand").click()
    expect(home).to_contain_text("Responds with errors")
    pill.click()
    expect(card(page, "spacex")).to_contain_text("Responds with errors")
    larder.fault("spacex", "online")
    visitor.send("GET", "/v1/ships?refresh=1")
    expect(card(page, "spacex")).to_contain_text("Responds")
    expect(card(page, "spacex")).not_to_contain_text("with errors")
    visitor.open("/ships")
    expect(visitor.open("/").locator(".pulse")).to_have_text("1 source responds")


def test_web_27_a_fault_is_set_and_the_next_screen_has_it(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/status")
    card(page, "spacex").get_by_label("Fault").select_option("503: service unavailable")
    expect(card(page, "spacex")).to_contain_text("Responds with errors")
    # A picker in another colour is still one.
    image = "element => getComputedStyle(element).backgroundImage"
    assert "gradient" in card(page, "spacex").get_by_label("Fault").evaluate(image)
    assert any(one["fault"].startswith("error(503") for one in larder.control("GET", "")["upstreams"])
    ships = visitor.open("/ships")
    # Nothing was stored yet but the list that came with the program.
    expect(ships.locator(".chip[data-kind=bundled], .chip[data-kind=stale], .state-problem").first).to_be_visible()
    page.get_by_text("Requests, and what they caused").click()
    expect(page.get_by_text(re.compile("/spacex/v4/ships")).first).to_be_visible()


def test_web_27_each_control_is_there_once_and_whole(visit, larder):
    """Also with a fault of a long name beside the button that releases what it holds."""
    for width in [390, 1280]:
        page = visit(larder, width=width).open("/status")
        page.get_by_text("Other simulated sources").click()
        card(page, "catalogue").get_by_label("Fault").select_option("hold")
        page.evaluate("void fetch('/v1/shop/categories').catch(() => {})")
        card(page, "catalogue").get_by_role("button", name=re.compile("Release [1-9]")).wait_for()
        assert layout.cut(page) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(ids) == len(set(ids)), ids
        # One word is one line.
        assert page.get_by_role("heading", name="Events").bounding_box()["height"] < 40
        card(page, "catalogue").get_by_label("Fault").select_option("online")
        larder.control("POST", "/upstreams/catalogue/release")


def test_web_27_everything_goes_offline_and_comes_back(visitor, larder):
    visitor.log_in("ships")
    ships = visitor.open("/ships")
    ships.get_by_role("link", name="A Gentle Landing, Mostly").wait_for()
    page = visitor.open("/status")
    page.get_by_role("button", name="Take everything offline").click()
    expect(ships.locator(".banner")).to_have_text("No internet connection. You’re in Offline mode.")
    page.get_by_role("button", name="Bring everything back").click()
    expect(ships.locator(".banner")).to_have_count(0)


def test_web_27_held_requests_are_shown_and_released(visitor, larder):
    page = visitor.open("/status")
    card(page, "catalogue").get_by_label("Fault").select_option("hold")
    # Nobody waits for its answer: it is the request of another tab.
    page.evaluate("void fetch('/v1/shop/categories').catch(() => {})")
    release = card(page, "catalogue").get_by_role("button", name=re.compile("Release [1-9]"))
    release.wait_for()
    # Else Larder's own probes are held next.
    card(page, "catalogue").get_by_label("Fault").select_option("online")
    release.click()
    expect(release).to_have_count(0)


def test_rules_are_shown_and_removed(visitor, larder):
    rule = {"match": {"method": "GET", "path": "/products"}, "fault": "error(503)", "times": 7}
    larder.control("POST", "/upstreams/catalogue/rules", rule)
    page = visitor.open("/status")
    rules = page.get_by_role("list", name="Rules for some requests")
    expect(rules).to_contain_text("GET /products")
    expect(rules).to_contain_text("error(503)")
    rules.get_by_role("button", name="Remove").click()
    expect(rules).to_have_text("No rule: each source has its own fault for all requests.")
    assert larder.control("GET", "/upstreams/catalogue/rules")["rules"] == []


def test_a_rule_is_added_and_what_is_wrong_with_it_is_said_at_its_field(visitor, larder):
    page = visitor.open("/status")
    page.get_by_text("Rules for some requests").click()
    page.get_by_role("button", name="Add a rule").click()
    form = page.get_by_role("dialog", name="Add a rule")
    form.get_by_label("Source").select_option("catalogue")
    form.get_by_label("Path").fill("/products")
    send = form.get_by_role("button", name="Add a rule")
    expect(form.get_by_label("Notation")).to_be_hidden()
    form.get_by_label("Fault").select_option("Another…")
    send.click()
    expect(form.get_by_label("Notation")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Notation").fill("broken(1)")
    send.click()
    expect(form.get_by_label("Notation")).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_text(re.compile("broken"))).to_be_visible()
    form.get_by_label("Notation").fill("slow(10), error(503)")
    form.get_by_label("How many times").fill("2")
    send.click()
    expect(page.get_by_role("list", name="Rules for some requests")).to_contain_text("Catalogue /products")
    rule, = larder.control("GET", "/upstreams/catalogue/rules")["rules"]
    assert (rule["match"], rule["times"]) == ({"path": "/products"}, 2) and "error(503)" in rule["fault"]


def test_web_27_without_a_sandbox_its_part_is_absent(visit, start):
    larder = start(sandboxed=False, **{f"upstreams_{name}_url": "http://127.0.0.1:9/none" for name in [
        "yandex_disk", "yandex_oauth", "catalogue", "people", "geocoder", "spacex"]})
    visitor = visit(larder)
    page = visitor.open("/status")
    expect(page.get_by_text("Requests by route", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Sandbox")).to_have_count(0)
    expect(page.get_by_label("Fault")).to_have_count(0)
    assert page.evaluate("fetch('/v1/sandbox').then(answer => answer.status)") == 404
