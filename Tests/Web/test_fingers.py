"""What fingers do with lists: rows are swiped, a page is pulled. Buttons, menus and keys do the same."""
import re

import axe
import pytest
import things
from playwright.sync_api import expect
from touch import Fingers, middle


@pytest.fixture
def phone(visit, larder):
    return visit(larder, width=390, height=760)


def swipe(page, row, by=-200):
    """A finger on a row, from its middle to the left."""
    x, y = middle(row)
    Fingers(page).drag((x, y), (x + by, y))


def pull(page, by):
    Fingers(page).drag((200, 120), (200, 120 + by))


def asked_anew(path):
    """A request that asks for a new copy."""
    return lambda request: f"{path}" in request.url and request.headers.get("cache-control") == "no-cache"


def test_w27_a_swiped_note_is_deleted_without_a_question_and_comes_back(phone):
    phone.log_in("notes")
    things.notes(phone, 3)
    page = phone.open("/notes")
    rows = page.locator(".rows > li")
    expect(rows).to_have_count(3)
    name = rows.first.locator(".row-link").inner_text()
    swipe(page, rows.first)
    acts = rows.first.locator(".swipe-acts")
    expect(acts.get_by_role("button")).to_have_text(["Delete"])
    expect(acts).to_be_in_viewport(ratio=0.9)
    expect(page).to_have_url(re.compile("/notes$"))
    axe.check(page)
    acts.get_by_role("button").tap()
    expect(rows).to_have_count(2)
    expect(page.get_by_role("link", name=name)).to_have_count(0)
    page.get_by_role("button", name="Undo").tap()
    expect(rows).to_have_count(3)
    expect(rows.first.locator(".row-link")).to_have_text(name)


def test_w27_a_swipe_that_is_short_or_ends_elsewhere_opens_and_does_nothing(phone):
    phone.log_in("notes")
    things.notes(phone, 12)
    page = phone.open("/notes")
    rows = page.locator(".rows > li")
    acts = page.locator(".swipe-acts")
    expect(rows).to_have_count(12)
    swipe(page, rows.nth(1), -30)
    expect(acts).to_have_count(0)
    # A finger that scrolls does not swipe.
    Fingers(page).drag((200, 600), (190, 300))
    page.wait_for_function("scrollY > 50")
    expect(acts).to_have_count(0)
    swipe(page, rows.nth(5))
    expect(acts).to_be_in_viewport(ratio=0.9)
    # Of two rows one is open; a press beside it closes it, and opens no note.
    swipe(page, rows.nth(6))
    expect(acts).to_have_count(1)
    expect(rows.nth(6).locator(".swipe-acts")).to_be_in_viewport(ratio=0.9)
    x, y = middle(rows.nth(6))
    page.touchscreen.tap(x - 130, y)
    expect(acts).to_have_count(0)
    expect(page).to_have_url(re.compile("/notes$"))
    rows.nth(6).tap(position={"x": 60, "y": 30})
    page.locator(".note-body").wait_for()


def test_w27_a_finger_that_leaves_the_action_of_a_swipe_does_nothing(phone):
    phone.log_in("notes")
    things.notes(phone, 3)
    page = phone.open("/notes")
    rows = page.locator(".rows > li")
    expect(rows).to_have_count(3)
    swipe(page, rows.nth(1))
    act = rows.nth(1).locator(".swipe-acts").get_by_role("button")
    expect(act).to_be_in_viewport(ratio=0.9)
    x, y = middle(act)
    for way in [(x - 250, y), (x, y + 200), (x - 20, y)]:
        Fingers(page).drag((x, y), way)
        expect(act).to_be_in_viewport(ratio=0.9)
    expect(rows).to_have_count(3)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    act.tap()
    expect(rows).to_have_count(2)


def test_w27_a_swiped_file_is_kept_offline_or_deleted(phone):
    phone.log_in("disk")
    text = {"Content-Type": "text/plain"}
    phone.send("PUT", "/v1/disk/file/content?overwrite=1&path=disk%3A%2F0.txt", b"text", **text)
    page = phone.open("/disk/files")
    row = page.locator(".rows > li", has=page.get_by_role("link", name="0.txt", exact=True))
    row.wait_for()
    swipe(page, row)
    buttons = row.locator(".swipe-acts").get_by_role("button")
    expect(buttons).to_have_text([re.compile("offline", re.I), "Delete"])
    buttons.first.tap()
    expect(row.get_by_role("img", name="Kept offline")).to_be_visible()
    expect(row.locator(".swipe-acts")).to_have_count(0)
    swipe(page, row)
    buttons.last.tap()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete file").tap()
    expect(row).to_have_count(0)


def test_w27_a_swiped_line_of_the_shopping_list_is_checked_off(phone):
    things.shopping(phone, 1, 2)
    page = phone.open("/shop/list")
    row = page.locator(".cart > li").first
    row.wait_for()
    swipe(page, row)
    row.locator(".swipe-acts").get_by_role("button", name="Bought").tap()
    expect(row.get_by_role("checkbox")).to_be_checked()
    swipe(page, row)
    expect(row.locator(".swipe-acts").get_by_role("button")).to_have_text(["Not bought yet", "Remove"])


@pytest.mark.parametrize("motion, moves", [("reduce", False), ("no-preference", True)])
def test_w27_a_row_moves_by_itself_unless_less_motion_is_wanted(visit, larder, motion, moves):
    phone = visit(larder, width=390, reduced_motion=motion)
    phone.log_in("ships")
    page = phone.open("/ships")
    row = page.locator(".rows > li").first
    row.wait_for()
    swipe(page, row)
    expect(row.locator(".swipe-acts")).to_have_count(1)
    duration = row.locator(".row-main").evaluate("row => parseFloat(getComputedStyle(row).transitionDuration)")
    assert (duration > 0) == moves


def test_ship_06_w27_a_page_that_is_pulled_is_asked_for_anew(phone, larder):
    phone.log_in("ships")
    page = phone.open("/ships")
    page.locator(".rows > li").nth(12).wait_for()
    asked = []
    page.on("request", lambda request: asked.append(request) if asked_anew("/v1/ships")(request) else None)
    pull(page, 60)
    expect(page.locator(".pull")).to_have_count(0)
    with page.expect_request(asked_anew("/v1/ships")):
        pull(page, 300)
    expect(page.locator(".pull")).to_have_count(0)
    # Not in the middle of the list, where a finger scrolls.
    page.evaluate("scrollTo(0, 400)")
    page.wait_for_function("scrollY === 400")
    pull(page, 300)
    page.wait_for_function("scrollY < 400")
    assert len(asked) == 1
    # A failure is said.
    page.evaluate("scrollTo(0, 0)")
    larder.fault("spacex", "error(503)")
    pull(page, 300)
    expect(page.locator(".banner")).to_be_visible()
    expect(page.locator(".chip[data-kind=stale]")).to_be_visible()


def test_shop_08_w27_a_search_that_failed_is_tried_again_by_a_pull(phone, larder):
    larder.fault("catalogue", "error(500)")
    page = phone.open("/shop?q=")
    page.locator(".state-problem").wait_for()
    larder.fault("catalogue", "online")
    pull(page, 300)
    page.locator(".product").first.wait_for()
    expect(page.locator(".state-problem")).to_have_count(0)


def test_w27_a_map_and_a_field_are_not_pulled(phone):
    phone.log_in("notes")
    things.notes(phone, 1)
    page = phone.open("/notes/map")
    asked = []
    page.on("request", lambda request: asked.append(request) if asked_anew("/v1/notes")(request) else None)
    page.locator(".map-pin").wait_for()
    Fingers(page).drag(middle(page.locator("larder-map")), (200, 700))
    page.goto("/notes")
    page.locator(".rows > li").wait_for()
    x, y = middle(page.get_by_role("searchbox", name="Search notes"))
    Fingers(page).drag((x, y), (x, y + 300))
    # A dialog is no page.
    page.get_by_role("button", name="Delete note").tap()
    question = page.get_by_role("alertdialog")
    question.wait_for()
    pull(page, 300)
    question.get_by_role("button", name="Keep it").tap()
    expect(question).to_have_count(0)
    # A pull of the page itself, after which none of the others can be under way.
    x, y = middle(page.locator("h1"))
    with page.expect_request(asked_anew("/v1/notes")):
        Fingers(page).drag((x, y), (x, y + 300))
    assert len(asked) == 1
