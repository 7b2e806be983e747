"""The order of pages, of photos and of a shopping list: by mouse, by a finger, by keys."""
import re

import pytest
import things
from playwright.sync_api import expect
from touch import Fingers, middle


# Windows are so high that all pages are in sight: a pointer outside of a window is nowhere.
@pytest.fixture
def phone(visit, larder):
    return visit(larder, width=390, height=1900)


@pytest.fixture
def desk(visit, larder):
    return visit(larder, width=1280, height=1900)


def pages(larder, number):
    return [one["id"] for one in larder.call("GET", f"/v1/pdf/documents/{number}")["data"]["pages"]]


def reader(visitor, count=3):
    """A document, opened, its pages so small that all of them are in sight."""
    number = things.document(visitor.larder, photos=count)
    page = visitor.open(f"/pdf/{number}")
    page.get_by_role("button", name="Smaller").click()
    page.get_by_role("button", name="Smaller").click()
    expect(page.locator(".zoom output")).to_have_text("50 %")
    expect(page.locator(".leaf-item")).to_have_count(count)
    page.wait_for_function("() => document.querySelector('.leaf-item img').naturalWidth > 0")
    return page, number


def sent(answer, ending):
    """The body of the request, if its address ends so."""
    return answer.request.post_data_json if answer.url.endswith(ending) else None


def ordered(page):
    """The request that stores the new order has its response."""
    return page.expect_response(lambda answer: answer.url.endswith("/pages/order") and answer.ok)


def handle(page, number):
    return page.get_by_role("button", name=re.compile(f"^Move Page {number}:"))


def over(page, number):
    """A point in the middle of a page."""
    return middle(page.locator(".leaf-item").nth(number - 1))


def test_web_22_pages_are_put_in_order_by_a_finger(phone, larder):
    page, number = reader(phone)
    before = pages(larder, number)
    handle(page, 1).scroll_into_view_if_needed()
    with ordered(page):
        Fingers(page).drag(middle(handle(page, 1)), over(page, 2))
    assert pages(larder, number) == [before[1], before[0], before[2]]
    # A handle takes the finger; the page does not scroll away below it.
    expect(page.get_by_role("button", name=re.compile("^Move Page 1:"))).to_be_visible()


def test_web_22_pages_are_put_in_order_by_mouse_and_by_keys(desk, larder):
    page, number = reader(desk)
    before = pages(larder, number)
    handle(page, 1).scroll_into_view_if_needed()
    page.mouse.move(*middle(handle(page, 1)))
    page.mouse.down()
    page.mouse.move(*over(page, 2), steps=8)
    with ordered(page):
        page.mouse.up()
    assert pages(larder, number) == [before[1], before[0], before[2]]
    expect(page.locator(".leaf-item img").nth(0)).to_have_attribute("data-href", re.compile(before[1]))
    handle(page, 3).focus()
    for _ in range(2):
        with ordered(page):
            page.keyboard.press("ArrowUp")
        # The handle of the page that moved keeps the focus, so that the next press moves it on.
        expect(page.locator(".sort-handle:focus")).to_have_count(1)
    assert pages(larder, number) == [before[2], before[1], before[0]]


def test_web_22_moves_that_follow_at_once_are_all_stored(desk, larder):
    page, number = reader(desk, count=4)
    first, second, third, fourth = pages(larder, number)
    handle(page, 4).focus()
    wanted = [fourth, first, second, third]
    with page.expect_response(lambda answer: answer.ok and sent(answer, "/pages/order") == {"pages": wanted}):
        for _ in range(3):
            page.keyboard.press("ArrowUp")
    assert pages(larder, number) == wanted
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    expect(page.locator(".leaf-item img").nth(0)).to_have_attribute("data-href", re.compile(fourth))


def test_web_22_an_order_that_is_not_stored_goes_back(visitor, larder):
    page, number = reader(visitor)
    before = pages(larder, number)
    page.route("**/pages/order", lambda route: route.abort("connectionrefused"), times=1)
    handle(page, 1).focus()
    page.keyboard.press("ArrowDown")
    problem = page.get_by_role("alertdialog")
    problem.wait_for()
    assert pages(larder, number) == before
    expect(page.locator(".leaf-item img").nth(0)).to_have_attribute("data-href", re.compile(before[0]))
    with ordered(page):
        problem.get_by_role("button", name="Try again").click()
    assert pages(larder, number) == [before[1], before[0], before[2]]


def test_web_21_chosen_photos_are_put_in_order_by_a_finger(phone):
    page = phone.open("/pdf/new")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose photos").click()
    chooser.value.set_files([things.file(f"{number}.png") for number in (1, 2, 3)])
    rows = page.locator(".photos > li")
    expect(rows).to_have_count(3)
    rows.first.scroll_into_view_if_needed()
    Fingers(page).drag(middle(page.get_by_role("button", name=re.compile("^Move 1.png:"))), middle(rows.nth(1)),
                       middle(rows.nth(2)))
    expect(page.locator(".photos .row-name")).to_have_text(["2.png", "3.png", "1.png"])


def test_web_20_a_shopping_list_is_put_in_order_by_a_finger(phone, larder):
    things.shopping(phone)
    page = phone.open("/shop/list")
    rows = page.locator(".cart > li")
    expect(rows).to_have_count(3)
    titles = rows.locator(".row-link").all_inner_texts()
    begin = middle(rows.first.locator(".sort-handle"))
    with page.expect_response(lambda answer: answer.url.endswith("/v1/shop/list/order") and answer.ok):
        Fingers(page).drag(begin, middle(rows.nth(1)), middle(rows.nth(2)))
    expect(rows.locator(".row-link")).to_have_text([titles[1], titles[2], titles[0]])
    page.reload()
    expect(rows.locator(".row-link")).to_have_text([titles[1], titles[2], titles[0]])


def test_web_20_moves_in_a_shopping_list_that_follow_at_once_are_all_stored(desk, larder):
    things.shopping(desk)
    items = [one["item_id"] for one in desk.send("GET", "/v1/shop/list").json()["data"]["items"]]
    page = desk.open("/shop/list")
    rows = page.locator(".cart > li")
    expect(rows).to_have_count(3)
    rows.last.locator(".sort-handle").focus()
    wanted = {"item_ids": [items[2], items[0], items[1]]}
    with page.expect_response(lambda answer: answer.ok and sent(answer, "/v1/shop/list/order") == wanted):
        for _ in range(2):
            page.keyboard.press("ArrowUp")
    stored = desk.send("GET", "/v1/shop/list").json()["data"]["items"]
    assert [one["item_id"] for one in stored] == wanted["item_ids"]
