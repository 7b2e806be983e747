"""The control room as a person uses it to break things: faults by name, requests and what they caused, the time."""
import json, re, subprocess
from datetime import datetime

import axe, layout
import pytest
import things
from larder import UPSTREAMS
from playwright.sync_api import expect
from test_status import card

SHIPS = "/v1/ships?refresh=1"


@pytest.fixture
def room(visitor):
    """The control room with its requests unfolded, after a list of ships was asked for."""
    visitor.log_in("ships")
    page = visitor.open("/status")
    unfold(page)
    visitor.send("GET", SHIPS)
    request(page, "GET /v1/ships").wait_for()
    return page


def unfold(page):
    page.locator(".inspector > summary").click()
    expect(page.locator(".inspector > summary")).to_contain_text(re.compile(r"\d"))


def request(page, words):
    rows = page.locator(".exchanges > li")
    return rows.filter(has=page.locator("details > summary", has_text=words)).first


def caused(row):
    return row.locator(".caused")


def copied(page, button):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    page.wait_for_function("async () => await navigator.clipboard.readText() !== ''")
    command = page.evaluate("navigator.clipboard.readText()")
    return command, subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout


def test_web_46_a_request_is_shown_with_those_that_it_caused(room, visitor):
    row = request(room, "GET /v1/ships?refresh=1")
    expect(row.locator("> details > summary")).to_contain_text("200")
    expect(row.locator("> details > summary")).to_contain_text("→ SpaceX 200")
    # By keyboard: unfolded, and its header fields.
    row.locator("> details > summary").focus()
    room.keyboard.press("Enter")
    expect(caused(row)).to_contain_text("GET /spacex/v4/ships")
    caused(row).get_by_text("Header fields").click()
    expect(caused(row)).to_contain_text("user-agent")
    # What is kept needs no source; a row that is open stays open while others come.
    visitor.send("GET", "/v1/ships")
    expect(request(room, "no source asked")).to_contain_text("GET /v1/ships")
    expect(caused(row).first).to_be_visible()


def test_web_46_a_request_is_repeated_by_curl(room, visitor):
    row = request(room, "refresh=1")
    row.locator("> details > summary").click()
    command, ships = copied(room, caused(row).get_by_role("button", name="Copy as curl"))
    assert len(json.loads(ships)) > 5, command
    visitor.send("POST", "/v1/shop/list/items", {"product_id": 2, "quantity": 1})
    row = request(room, "POST /v1/shop/list/items")
    row.locator("> details > summary").click()
    visitor.send("DELETE", "/v1/shop/list/items/2")
    command, _ = copied(room, row.get_by_role("button", name="Copy as curl").first)
    stored = visitor.send("GET", "/v1/shop/list").json()["data"]["items"]
    assert [(item["product_id"], item["quantity"]) for item in stored] == [(2, 1)], command


def test_web_46_a_rule_is_made_of_a_request(room, visitor, larder):
    row = request(room, "GET /v1/ships")
    row.locator("> details > summary").click()
    caused(row).get_by_role("button", name="Add a rule").click()
    form = room.get_by_role("dialog", name="Add a rule")
    expect(form.get_by_label("Source")).to_have_value("spacex")
    expect(form.get_by_label("Method")).to_have_value("GET")
    expect(form.get_by_label("Path")).to_have_value("/v4/ships")
    form.get_by_label("Fault").select_option("500: internal error")
    form.get_by_role("button", name="Add a rule").click()
    expect(room.get_by_role("list", name="Rules for some requests")).to_contain_text("SpaceX GET /v4/ships")
    visitor.context.request.get(SHIPS)
    expect(request(room, "→ SpaceX 500")).to_contain_text("GET /v1/ships")
    rule, = larder.control("GET", "/upstreams/spacex/rules")["rules"]
    assert (rule["match"], rule["fault"]) == ({"method": "GET", "path": "/v4/ships"}, "error(500)")


def test_web_46_a_fault_of_larder_itself_is_made_of_a_request(room, visitor):
    row = request(room, "GET /v1/ships")
    row.locator("> details > summary").click()
    row.get_by_role("button", name="Set a fault").first.click()
    form = room.get_by_role("dialog", name="Set a fault")
    expect(form.get_by_label("Route")).to_have_value("GET /v1/ships")
    form.get_by_label("Fault").select_option("503: service unavailable")
    form.get_by_role("button", name="Set a fault").click()
    expect(form).to_have_count(0)
    assert visitor.context.request.get("/v1/ships").status == 503


FAULTS = {"Slow: 3 seconds": "slow(3000)", "503: service unavailable": "error(503)", "Connection refused": "refused",
          "Cut in the middle": "truncated", "429: too many requests": "error(429, 30)"}


@pytest.mark.parametrize("words", FAULTS)
def test_web_46_a_fault_is_picked_by_its_name(visitor, larder, words):
    page = visitor.open("/status")
    picker = card(page, "spacex").get_by_label("Fault")
    expect(card(page, "spacex").get_by_label("Notation")).to_be_hidden()
    picker.select_option(words)
    page.wait_for_function("""async fault => (await (await fetch('/v1/sandbox')).json()).upstreams
        .find(one => one.name === 'spacex').fault === fault""", arg=FAULTS[words])
    page.reload()
    expect(card(page, "spacex").get_by_label("Fault").locator("option:checked")).to_have_text(words)


def test_web_46_the_notation_of_faults_is_behind_another(visitor, larder):
    page = visitor.open("/status")
    picker, notation = (card(page, "spacex").get_by_label(name) for name in ["Fault", "Notation"])
    picker.select_option("Another…")
    expect(notation).to_be_focused()
    notation.fill("nothing(1)")
    page.keyboard.press("Enter")
    expect(card(page, "spacex").get_by_role("alert")).to_contain_text("nothing(1)")
    expect(notation).to_have_value("nothing(1)")
    notation.fill("slow(20), slice(512, 10)")
    page.keyboard.press("Enter")
    expect(card(page, "spacex").locator(".field-error")).to_have_text("")
    faults = {one["name"]: one["fault"] for one in larder.control("GET", "")["upstreams"]}
    assert faults["spacex"] == "slow(20), slice(512, 10)"
    expect(picker.locator("option:checked")).to_have_text("Another…")
    picker.select_option("None: it works")
    expect(notation).to_be_hidden()


def test_web_46_the_time_is_moved_at_the_top_of_the_control_room(visit, larder):
    visitor = visit(larder, width=390, height=844)
    visitor.log_in("ships")
    visitor.open("/ships").locator(".rows > li").first.wait_for()
    page = visitor.open("/status")
    bar = page.locator(".timebar")
    before = datetime.fromisoformat(bar.locator(".clock").get_attribute("title"))
    for name in ["+ 1 minute", "+ 1 hour", "+ 1 day"]:
        with page.expect_response(re.compile("/clock/advance$")):
            bar.get_by_role("button", name=name).tap()
    now = datetime.fromisoformat(larder.harness("GET", "/clock")["now"])
    assert 90_060 <= (now - before).total_seconds() < 91_000
    # What was kept is old now.
    larder.fault("spacex", "offline")
    ships = visitor.open("/ships")
    expect(ships.locator(".chip").first).to_contain_text(re.compile("yesterday|1 day ago|25 hours ago|Offline copy"))


def test_web_46_without_its_controls_there_is_no_time_bar(visit, start):
    larder = start(sandboxed=False, **{f"upstreams_{name.replace('-', '_')}_url": "http://127.0.0.1:9/none"
                                       for name in UPSTREAMS})
    page = visit(larder).open("/status")
    page.get_by_text("Requests by route", exact=True).wait_for()
    expect(page.locator(".timebar, .inspector, .fault")).to_have_count(0)


@pytest.mark.parametrize("width, locale", [(390, "ru-RU"), (1280, "en-GB")])
def test_web_46_the_tools_of_the_control_room_can_be_read_by_everybody(visit, larder, width, locale):
    visitor = visit(larder, width=width, locale=locale)
    visitor.log_in("ships")
    page = visitor.open("/status")
    unfold(page)
    visitor.send("GET", SHIPS)
    row = request(page, "GET /v1/ships")
    row.locator("> details > summary").click()
    caused(row).locator("summary").click()
    things.wait_for_stream(page)
    axe.check(page)
    assert layout.wider(page) == []
    assert layout.smaller(page) == []
