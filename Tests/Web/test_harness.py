"""The harness in the control room."""
import re, time
from datetime import datetime, timedelta

import pytest
import axe
import layout
import things
from playwright.sync_api import expect


@pytest.fixture
def room(visitor):
    page = visitor.open("/status")
    page.get_by_text("Harness", exact=True).click()
    page.get_by_role("heading", name="Time of Larder and the sandbox").wait_for()
    return page


def test_everything_is_reset_after_a_question(visitor, larder, room):
    visitor.log_in("notes")
    things.note(visitor, "Not for long")
    larder.fault("spacex", "error(500)")
    room.get_by_role("button", name="Reset everything").click()
    question = room.get_by_role("alertdialog", name="Reset everything")
    question.get_by_role("button", name="Cancel").click()
    assert visitor.send("GET", "/v1/notes").json()["data"]["items"]
    room.get_by_role("button", name="Reset everything").click()
    question.get_by_role("button", name="Reset everything").click()
    expect(room.get_by_text("Everything is as at the start.")).to_be_visible()
    assert {one["fault"] for one in larder.control("GET", "")["upstreams"]} == {"online"}
    assert visitor.context.request.get("/v1/notes").status == 401


def test_the_time_is_stopped_and_moved_on(larder, room):
    part = room.locator(".timebar")
    part.get_by_role("button", name="Stop the time").click()
    expect(part.get_by_text("stands still", exact=True)).to_be_visible()
    expect(part.get_by_role("button", name="Let it run")).to_be_focused()
    before = clock(larder)
    part.get_by_role("button", name="+ 1 hour").click()
    expect(part.locator(".clock")).to_have_attribute("title", re.compile(re.escape(later(before, 3600))))
    part.locator("summary").click()
    part.get_by_role("button", name="Move on", exact=True).click()
    expect(part.get_by_label("Seconds")).to_have_attribute("aria-invalid", "true")
    part.get_by_label("Seconds").fill("61")
    part.get_by_role("button", name="Move on", exact=True).click()
    expect(part.locator(".clock")).to_have_attribute("title", re.compile(re.escape(later(before, 3661))))
    part.get_by_role("button", name="Let it run").click()
    expect(part.get_by_text("runs", exact=True)).to_be_visible()
    assert larder.harness("GET", "/clock")["frozen"] is False


@pytest.mark.parametrize("width, locale", [(390, "ru-RU"), (1280, "en-GB")])
def test_the_real_time_returns_and_other_pages_say_until_then_that_it_is_another(visit, larder, width, locale):
    visitor = visit(larder, width=width, locale=locale)
    visitor.log_in("ships")
    ships, room = visitor.open("/ships"), visitor.open("/status")
    mark = ships.get_by_role("link", name=re.compile("Test time|Время стенда"))
    part = room.locator(".timebar")
    real = part.get_by_role("button", name=re.compile("Back to real time|Вернуть настоящее время"))
    part.get_by_role("button", name=re.compile("1 day|1 день")).wait_for()
    expect(real).to_be_hidden()
    expect(mark).to_have_count(0)
    part.get_by_role("button", name=re.compile("1 day|1 день")).click()
    expect(real).to_be_visible()
    ships.reload()
    expect(mark).to_be_visible()
    assert layout.cut(ships) == []
    axe.check(ships)
    real.click()
    expect(real).to_be_hidden()
    expect(room.get_by_role("link", name=re.compile("Test time|Время стенда"))).to_have_count(0)
    assert abs(datetime.fromisoformat(clock(larder)).timestamp() - time.time()) < 60
    # The session and what is stored are those of before.
    ships.reload()
    ships.locator(".rows > li").first.wait_for()
    expect(mark).to_have_count(0)


def clock(larder):
    return larder.harness("GET", "/clock")["now"]


def later(time, seconds):
    """A time of the server after so many seconds, as far as its seconds."""
    return (datetime.fromisoformat(time) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def test_what_clients_asked_is_listed_without_the_requests_of_the_page(visitor, room):
    part = room.locator(".inspector")
    part.get_by_text("Requests, and what they caused").click()
    expect(part).to_contain_text("0 requests")
    visitor.send("GET", "/v1/shop/search?q=phone")
    journal = room.get_by_role("list", name="Requests of clients")
    expect(journal.get_by_role("listitem").filter(has_text="GET /v1/shop/search?q=phone")).to_contain_text("200")
    expect(journal).not_to_contain_text("/v1/status")
    room.get_by_label("Also those of this page").check()
    expect(journal).to_contain_text("/v1/status")
    room.get_by_label("Also those of this page").uncheck()
    part.get_by_role("button", name="Empty").click()
    # Larder itself may have asked its sources since.
    expect(journal.get_by_role("listitem").filter(has_text="GET /v1/shop/search?q=phone")).to_have_count(0)


def test_only_the_time_is_asked_of_the_harness_before_it_is_unfolded(visitor):
    page = visitor.open("/status")
    page.get_by_text("Harness", exact=True).wait_for()
    page.get_by_text("Requests by route", exact=True).wait_for()
    page.get_by_role("heading", name="Time of Larder and the sandbox").wait_for()
    # It is no use of the harness: nothing is recorded because of it.
    assert {url.split("/v1")[-1] for url in visitor.requests if "/v1/harness" in url} == {"/harness"}
    visitor.send("GET", "/v1/shop/search?q=phone")
    assert visitor.send("GET", "/v1/harness/journal").json()["entries"] == []


def test_a_space_is_made_and_ended(larder, room):
    spaces = room.get_by_role("list", name="Spaces")
    expect(spaces).to_contain_text("None.")
    room.get_by_role("button", name="New space").click()
    link = spaces.get_by_role("link")
    expect(link).to_have_attribute("href", re.compile(r"^http://127\.0\.0\.1:\d+/status$"))
    space, = larder.harness("GET", "/spaces")["spaces"]
    assert link.inner_text() == space["url"]
    spaces.get_by_role("button", name="End").click()
    expect(spaces).to_contain_text("None.")
    assert larder.harness("GET", "/spaces")["spaces"] == []


def test_a_fault_of_larder_itself_is_set_and_removed(visitor, larder, room):
    room.get_by_role("button", name="Set a fault").click()
    form = room.get_by_role("dialog", name="Set a fault")
    form.get_by_label("Route").fill("GET /v1/shop/categories")
    # Faults have the names that those of the sources have.
    form.get_by_label("Fault").select_option("Another…")
    form.get_by_label("Notation").fill("nothing(1)")
    form.get_by_role("button", name="Set a fault").click()
    expect(form.get_by_label("Notation")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Fault").select_option("503: service unavailable")
    form.get_by_role("button", name="Set a fault").click()
    faults = room.get_by_role("list", name="Faults of Larder itself")
    expect(faults).to_contain_text("GET /v1/shop/categories")
    assert visitor.context.request.get("/v1/shop/categories").status == 503
    expect(faults).to_contain_text("error(503) · 1")
    # One is ended in its row, that of all other routes, too; or all are.
    larder.harness("PUT", "/front/fault", {"fault": "slow(1)"})
    expect(faults.get_by_role("listitem")).to_have_count(2)
    faults.get_by_role("button", name="Remove").first.click()
    expect(faults).to_contain_text("All other routes slow(1)")
    expect(faults.get_by_role("listitem")).to_have_count(1)
    assert visitor.context.request.get("/v1/shop/categories").status == 200
    faults.get_by_role("button", name="Remove").click()
    expect(faults).to_contain_text("None.")
    larder.harness("PUT", "/front/fault", {"route": "GET /v1/shop/categories", "fault": "error(503)"})
    expect(faults).to_contain_text("GET /v1/shop/categories")
    room.get_by_role("button", name="Remove all").click()
    expect(faults).to_contain_text("None.")
    assert visitor.context.request.get("/v1/shop/categories").status == 200


def test_a_snapshot_is_taken_restored_and_deleted(visitor, larder, room):
    visitor.log_in("notes")
    things.note(visitor, "As it was")
    room.get_by_role("button", name="Take a snapshot").click()
    form = room.get_by_role("dialog", name="Take a snapshot")
    form.get_by_label("Name").fill("with spaces")
    form.get_by_role("button", name="Take a snapshot").click()
    expect(form.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Name").fill("one.note")
    form.get_by_role("button", name="Take a snapshot").click()
    snapshots = room.get_by_role("list", name="Snapshots")
    expect(snapshots).to_contain_text("one.note")
    things.note(visitor, "Not for long")
    snapshots.get_by_role("button", name="Restore").click()
    room.get_by_role("alertdialog", name="Restore: one.note").get_by_role("button", name="Restore").click()
    expect(room.get_by_role("alertdialog")).to_have_count(0)
    expect(snapshots.get_by_role("button", name="Restore")).not_to_have_attribute("aria-busy", "true")
    assert [one["first_line"] for one in visitor.send("GET", "/v1/notes").json()["data"]["items"]] == ["As it was"]
    snapshots.get_by_role("button", name="Delete").click()
    expect(snapshots).to_contain_text("None.")
    assert larder.harness("GET", "/snapshots")["snapshots"] == []


WEATHER = """
openapi: 3.1.0
paths:
  /today: {get: {responses: {"200": {content: {application/json: {example: {celsius: 21}}}}}}}
"""


def test_a_source_is_made_from_a_document_and_removed(visitor, larder):
    page = visitor.open("/status")
    page.get_by_text("Other simulated sources").click()
    sources = page.get_by_role("list", name="Other simulated sources")
    names = [re.compile("Yandex downloader /yandex_downloader"), re.compile("Yandex uploader /yandex_uploader")]
    expect(sources.get_by_role("listitem")).to_have_text(names)
    page.get_by_role("button", name="New from OpenAPI").click()
    form = page.get_by_role("dialog", name="New from OpenAPI")
    form.get_by_label("Name").fill("weather")
    document = form.get_by_label("OpenAPI document")
    document.fill("openapi: [")
    form.get_by_role("button", name="New from OpenAPI").click()
    expect(document).to_have_attribute("aria-invalid", "true")
    expect(document).to_have_value("openapi: [")
    document.fill(WEATHER)
    form.get_by_role("button", name="New from OpenAPI").click()
    row = sources.get_by_role("listitem").filter(has_text="weather")
    row.wait_for()
    assert visitor.context.request.get(f"{larder.sandbox}/weather/today").json() == {"celsius": 21}
    with page.expect_response(lambda response: response.url.endswith("/weather/fault")):
        row.get_by_label("Fault").select_option("503: service unavailable")
    assert visitor.context.request.get(f"{larder.sandbox}/weather/today").status == 503
    row.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    assert visitor.context.request.get(f"{larder.sandbox}/weather/today").status == 404


def test_an_upstream_is_recorded_and_played_back(visit, start, tmp_path):
    folder = tmp_path / "recorded"
    folder.mkdir()
    larder = start(upstreams_spacex_fixtures=folder)
    visitor = visit(larder)
    visitor.log_in("ships")
    page = visitor.open("/status")
    page.get_by_text("Harness", exact=True).click()
    mode = page.get_by_role("combobox", name="Mode: spacex")
    mode.select_option("record")
    row = page.get_by_role("list", name="Recordings").get_by_role("listitem")
    things.wait_for_mode(page, "spacex", "record")
    visitor.send("GET", "/v1/ships?refresh=1")
    # What is chosen in a list is not drawn anew under the hand of who chooses.
    page.get_by_role("heading", name="Recordings").click()
    expect(row).to_contain_text("files: 1, patches: 0")
    mode.select_option("replay")
    things.wait_for_mode(page, "spacex", "replay")
    larder.fault("spacex", "offline")
    assert visitor.send("GET", "/v1/ships?refresh=1").json()["meta"]["source"] != "offline"
    found, = larder.harness("GET", "/upstreams/spacex")["files"]
    assert found["uses"] >= 1
    (folder / found["file"]).write_text("status: nothing")
    expect(row).to_contain_text("cannot be used")


def test_without_a_folder_the_recordings_say_how_to_name_one(room):
    expect(room.get_by_role("list", name="Recordings")).to_contain_text("--upstreams-spacex-fixtures")
