"""The harness in the control room."""
import re
from datetime import datetime, timedelta

import pytest
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
    part = room.locator(".harness")
    part.get_by_role("button", name="Stop the time").click()
    expect(part.get_by_text("stands still", exact=True)).to_be_visible()
    expect(part.get_by_role("button", name="Let it run")).to_be_focused()
    before = clock(larder)
    part.get_by_role("button", name="+ 1 hour").click()
    expect(part.locator(".clock")).to_have_attribute("title", re.compile(re.escape(later(before, 3600))))
    part.get_by_role("button", name="Move on", exact=True).click()
    expect(part.get_by_label("Seconds")).to_have_attribute("aria-invalid", "true")
    part.get_by_label("Seconds").fill("61")
    part.get_by_role("button", name="Move on", exact=True).click()
    expect(part.locator(".clock")).to_have_attribute("title", re.compile(re.escape(later(before, 3661))))
    part.get_by_role("button", name="Let it run").click()
    expect(part.get_by_text("runs", exact=True)).to_be_visible()
    assert larder.harness("GET", "/clock")["frozen"] is False


def clock(larder):
    return larder.harness("GET", "/clock")["now"]


def later(time, seconds):
    """A time of the server after so many seconds, as far as its seconds."""
    return (datetime.fromisoformat(time) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def test_what_clients_asked_is_listed_without_the_requests_of_the_page(visitor, room):
    visitor.send("GET", "/v1/shop/search?q=phone")
    journal = room.get_by_role("list", name="Requests of clients")
    expect(journal.get_by_role("listitem").filter(has_text="GET /v1/shop/search?q=phone")).to_contain_text("200")
    expect(journal).not_to_contain_text("/v1/status")
    room.get_by_label("Also those of this page").check()
    expect(journal).to_contain_text("/v1/status")
    room.get_by_label("Also those of this page").uncheck()
    room.locator(".harness").get_by_role("button", name="Empty").click()
    expect(journal).to_contain_text("None yet.")


def test_nothing_of_the_harness_is_asked_before_it_is_unfolded(visitor):
    page = visitor.open("/status")
    page.get_by_text("Harness", exact=True).wait_for()
    page.get_by_role("heading", name="Requests by route").wait_for()
    assert [url for url in visitor.requests if "/v1/harness" in url] == []


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
    form.get_by_label("Fault").fill("nothing(1)")
    form.get_by_role("button", name="Set a fault").click()
    expect(form.get_by_label("Fault")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Fault").fill("error(503)")
    form.get_by_role("button", name="Set a fault").click()
    faults = room.get_by_role("list", name="Faults of Larder itself")
    expect(faults).to_contain_text("GET /v1/shop/categories")
    assert visitor.context.request.get("/v1/shop/categories").status == 503
    expect(faults).to_contain_text("error(503) · 1")
    room.get_by_role("button", name="Remove all").click()
    expect(faults).to_contain_text("None.")
    assert visitor.context.request.get("/v1/shop/categories").status == 200
