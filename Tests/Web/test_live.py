"""Pages while upstreams, the server and other tabs change."""
import re, time

import pytest
import things
from playwright.sync_api import expect

LOST = "Larder does not answer"
# The first one in the list of the sandbox.
SHIP = "A Gentle Landing, Mostly"


def chip(page, kind):
    return page.locator(f".chip[data-kind={kind}]").first


def listeners(larder):
    metrics = larder.call("GET", "/metrics").decode()
    return float(re.search(r"^larder_event_listeners (\S+)", metrics, re.M).group(1))


@pytest.fixture
def ships(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.get_by_role("link", name=SHIP).first.wait_for()
    return page


def test_web_09_the_banner_comes_when_an_upstream_goes_and_goes_when_it_is_back(visitor, ships, larder):
    larder.fault("spacex", "offline")
    # Another client finds out; nothing is done in the page.
    visitor.send("GET", "/v1/ships?refresh=1")
    expect(ships.locator(".banner")).to_have_text("No internet connection. You’re in Offline mode.")
    expect(chip(ships, "offline")).to_contain_text(re.compile("Offline copy.*(ago|just now)", re.S))
    expect(ships.get_by_role("link", name=SHIP).first).to_be_visible()
    larder.fault("spacex", "online")
    expect(ships.locator(".banner")).to_have_count(0)
    expect(chip(ships, "offline")).to_have_count(0)


def test_web_09_a_fault_of_the_control_room_is_seen_without_any_action(ships, figures):
    fault = """fault => fetch('/v1/sandbox/upstreams/spacex/fault', {method: 'PUT',
        headers: {'Content-Type': 'application/json'}, body: JSON.stringify({fault})}).then(answer => answer.status)"""
    begin = time.monotonic()
    row = ships.locator(".rows > li").nth(1)
    place = row.bounding_box()
    assert ships.evaluate(fault, "offline") < 300
    banner = ships.locator(".banner")
    expect(banner).to_have_text("No internet connection. You’re in Offline mode.")
    came = time.monotonic() - begin
    # It is seen, at the foot of the screen, and has moved no row.
    box = banner.bounding_box()
    assert box["width"] > 300 and 24 < box["height"] < 60 and box["y"] + box["height"] <= 800
    assert banner.evaluate("""element => {
        const {x, y, width, height} = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    }""")
    assert row.bounding_box() == place
    assert ships.evaluate(fault, "online") < 300
    expect(ships.locator(".banner")).to_have_count(0)
    expect(chip(ships, "offline")).to_have_count(0)
    figures(f"/ships: banner {came:.1f} s after the upstream has gone")


def test_web_09_a_fault_of_the_sandbox_itself_is_seen_without_any_action(ships, larder, figures):
    things.wait_for_stream(ships)
    begin = time.monotonic()
    larder.fault("spacex", "offline")
    expect(ships.locator(".banner")).to_have_text("No internet connection. You’re in Offline mode.")
    figures(f"/ships: banner {time.monotonic() - begin:.1f} s after a fault past the server")
    expect(chip(ships, "offline")).to_contain_text(re.compile("Offline copy.*(ago|just now)", re.S))
    larder.fault("spacex", "online")
    expect(ships.locator(".banner")).to_have_count(0)
    expect(chip(ships, "offline")).to_have_count(0)


@pytest.mark.settings(freshness_ships_s=0)
def test_web_10_an_upstream_with_errors_is_a_stale_copy_that_says_why(ships, larder):
    """The copy is not fresh again by itself, however long the test takes."""
    larder.fault("spacex", "error(503)")
    ships.get_by_role("button", name="Refresh").first.click()
    expect(chip(ships, "stale")).to_contain_text("Stale copy")
    expect(ships.locator(".banner")).to_contain_text("the service does not work at the moment")
    expect(ships.get_by_text("Offline mode")).to_have_count(0)
    expect(ships.get_by_role("link", name=SHIP).first).to_be_visible()


@pytest.mark.settings(freshness_ships_s=3600)
def test_web_10_a_fresh_copy_of_an_upstream_with_errors_has_no_banner(ships, larder):
    larder.fault("spacex", "error(503)")
    ships.reload()
    expect(ships.get_by_role("link", name=SHIP).first).to_be_visible()
    expect(chip(ships, "stale")).to_have_count(0)
    expect(ships.locator(".banner")).to_have_count(0)


def test_web_10_what_the_upstream_does_not_have_is_a_page_of_its_own(visitor):
    page = visitor.open("/shop/999999")
    expect(page.locator(".state-problem")).to_be_visible()
    expect(page.locator(".chip")).to_have_count(0)


def test_web_10_what_the_upstream_refuses_for_an_account_shows_nothing_of_it(visitor, larder):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    name = page.locator(".rows > li .row-link").first.inner_text()
    larder.control("POST", "/yandex_oauth/revoke", {"account": "anna"})
    page.keyboard.press("r")
    page.get_by_role("button", name="LOG IN", exact=True).wait_for()
    expect(page.locator(".why")).to_contain_text(re.compile(r"\w{3}"))
    for again in [lambda: page.goto("/disk/files"), page.reload]:
        again()
        page.get_by_role("button", name="LOG IN", exact=True).wait_for()
        expect(page.get_by_text(name, exact=True)).to_have_count(0)


@pytest.mark.settings(upstreams_spacex_patience_ms=300, freshness_ships_s=0)
def test_web_11_a_slow_upstream_gives_the_stored_copy_then_the_fresh_one(ships, larder):
    ships.evaluate("scrollTo(0, 400)")
    larder.control("PUT", "/spacex/ships/70ca451a41196adb40260072", {"name": "Renamed later"})
    larder.fault("spacex", "slow(1500)")
    ships.get_by_role("button", name="Refresh").first.dispatch_event("click")
    expect(chip(ships, "stale")).to_be_visible()
    before = ships.evaluate("scrollY")
    expect(ships.get_by_text("Renamed later").first).to_be_attached()
    assert ships.evaluate("scrollY") == before


def test_web_12_a_stopped_server_is_said_and_nothing_is_lost(visitor, larder, figures):
    visitor.log_in("ships", "notes")
    ships = visitor.open("/ships")
    row = ships.get_by_role("link", name=SHIP).first
    row.wait_for()
    form = visitor.open("/notes/new")
    text = form.get_by_role("textbox", name=re.compile("note|text", re.I)).first
    text.fill("Not to be lost")
    begin = time.monotonic()
    larder.stop()
    for page in [ships, form]:
        expect(page.get_by_text(LOST).first).to_be_visible()
    figures(f"two pages say after {time.monotonic() - begin:.1f} s that the server has stopped")
    expect(row).to_be_visible()
    expect(text).to_have_value("Not to be lost")
    for page in [ships, form]:
        expect(page.locator("[data-write]:not(:disabled):not([inert] *)")).to_have_count(0)
    larder.start()
    for page in [ships, form]:
        expect(page.get_by_text(LOST)).to_have_count(0)
    expect(text).to_have_value("Not to be lost")
    form.get_by_role("button", name="Save").click()
    form.get_by_text("Not to be lost").first.wait_for()


def test_web_12_on_return_only_what_the_absence_switched_off_is_on(visitor, larder):
    visitor.log_in("notes")
    pages = [visitor.open("/notes/new") for _ in range(2)]
    texts, saves = ([page.get_by_role(role, name=name, exact=True) for page in pages]
                    for role, name in [("textbox", "Text"), ("button", "Save")])
    # Both are drawn before one has a draft, which a new editor takes up.
    for save in saves:
        expect(save).to_be_disabled()
    texts[0].fill("Milk")
    expect(saves[0]).to_be_enabled()
    larder.stop()
    for page in pages:
        expect(page.locator("#lost")).not_to_be_empty()
    # One has no text any more, the other has one now.
    texts[0].fill("")
    texts[1].fill("Bread")
    # What is drawn meanwhile is off, too; the rule of one switches it off later.
    pages[1].evaluate("""() => document.querySelector('main').append(...['drawn', 'full'].map(key => {
        const element = document.createElement('button');
        Object.assign(element.dataset, {write: '', key});
        return element;
    }))""")
    drawn, full = (pages[1].locator(f"[data-key={key}]") for key in ["drawn", "full"])
    for one in [*saves, drawn, full]:
        expect(one).to_be_disabled()
    full.evaluate("one => { one.disabled = true; }")
    larder.start()
    expect(saves[1]).to_be_enabled()
    expect(drawn).to_be_enabled()
    expect(full).to_be_disabled()
    expect(pages[0].locator("#lost")).to_be_empty()
    expect(saves[0]).to_be_disabled()


@pytest.mark.parametrize("opened, link, shown", [
    ("/notes", "New note", "New note"), ("/notes", "Map", "Map"), ("/pdf", "New document", "New document"),
    ("/shop?q=", "Heather Grey Hoodie", "Heather Grey Hoodie"), ("/disk", "All files", "Disk")])
def test_web_12_a_part_that_cannot_be_loaded_is_a_server_that_is_away(visitor, larder, opened, link, shown):
    visitor.log_in("notes", "disk")
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    things.document(larder)
    page = visitor.open(opened)
    link = page.get_by_role("link", name=link, exact=True).first
    link.wait_for()
    page.evaluate("window.isSame = true")
    larder.stop()
    link.click()
    problem = page.locator(".state-problem[role=alert]")
    expect(problem).to_contain_text("Larder cannot be reached")
    expect(problem.get_by_role("button", name="Try again")).to_be_enabled()
    expect(page.locator("#main [data-write]:not(:disabled)")).to_have_count(0)
    problem.get_by_role("button", name="Try again").click()
    expect(problem).to_contain_text("Larder cannot be reached")
    larder.start()
    expect(problem).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_have_text(shown)
    assert page.evaluate("window.isSame")


def test_web_12_a_part_that_the_browser_remembers_as_missing_loads_the_page_anew_once(visitor):
    visitor.log_in("notes")
    page = visitor.open("/notes")
    page.get_by_role("link", name="New note").wait_for()
    page.route("**/notes-edit.js", lambda route: route.abort(), times=1)
    page.get_by_role("link", name="New note").click()
    page.get_by_role("textbox", name="Text").wait_for()
    # One that stays away says so instead.
    page.route("**/notes-map.js", lambda route: route.abort())
    page.goto("/notes/map")
    expect(page.get_by_role("alert")).to_contain_text("Larder cannot be reached")
    page.unroute("**/notes-map.js")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Map")
    visitor.faults.clear()


def test_web_13_eight_tabs_have_one_stream_and_see_what_one_of_them_does(visitor, larder, figures):
    visitor.log_in("ships")
    tabs = [visitor.open("/ships") for _ in range(8)]
    for tab in tabs:
        tab.get_by_role("link", name=SHIP).first.wait_for()
    things.wait_for_stream(tabs[0])
    assert listeners(larder) == 1
    ninth = visitor.open("/shop")
    ninth.get_by_role("heading", level=1).wait_for()
    ship = next(item for item in larder_ships(visitor) if item["name"] == SHIP)
    begin = time.monotonic()
    visitor.send("DELETE", ship["href"])
    for tab in tabs:
        expect(tab.get_by_role("link", name=SHIP)).to_have_count(0)
    figures(f"eight pages show a change after {time.monotonic() - begin:.1f} s")
    assert listeners(larder) == 1
    tabs[0].close()
    visitor.send("POST", "/v1/ships/restore", {"ids": [ship["id"]]})
    for tab in tabs[1:]:
        expect(tab.get_by_role("link", name=SHIP).first).to_be_attached()


def larder_ships(visitor):
    return visitor.send("GET", "/v1/ships?limit=100").json()["data"]["items"]
