"""Answers that are late, changes that follow one another at once, and what is drawn anew under a person's hands."""
import re
import time
from urllib.parse import quote

import things
from larder import PATIENCE_MS
from playwright.sync_api import expect


class Late:
    """Holds the requests of a page to some addresses until they are let go."""

    def __init__(self, page, address, method="GET"):
        self.page, self.address, self.method = page, address, method
        self.routes, self.over = [], False
        page.route(address, self.take)

    def take(self, route):
        if route.request.method == self.method and not self.over:
            self.routes.append(route)
        else:
            route.fallback()

    def wait(self, count=1):
        """Waits until that many are held."""
        end = time.monotonic() + PATIENCE_MS / 1000
        while len(self.routes) < count:
            assert time.monotonic() < end, f"{len(self.routes)} requests to {self.address}"
            self.page.evaluate("new Promise(requestAnimationFrame)")

    def respond(self, number=0):
        """Lets one of them have its response of now, and gives it to the page later: call what this returns."""
        route = self.routes.pop(number)
        response = route.fetch()
        return lambda: route.fulfill(response=response)

    def release(self):
        self.over = True
        for route in self.routes:
            route.continue_()
        self.routes.clear()


def answered(page):
    """Waits until what the page has got is drawn."""
    for _ in range(10):
        page.evaluate("new Promise(requestAnimationFrame)")


def test_web_20_an_older_list_does_not_take_back_a_quantity(visitor):
    things.shopping(visitor, 1, 2)
    page = visitor.open("/shop/list")
    row = page.locator(".cart > li").first
    count = row.locator(".quantity-count")
    expect(count).to_have_text("1")
    name = row.locator(".row-link").inner_text()
    things.wait_for_stream(page)
    lists = Late(page, re.compile(r"/v1/shop/list$"))
    # A change elsewhere makes the page read the list; its answer comes after the presses.
    visitor.send("PATCH", "/v1/shop/list/items/2", {"quantity": 7})
    lists.wait()
    older = lists.respond()
    changes = Late(page, re.compile(r"/v1/shop/list/items/1$"), "PATCH")
    more = page.get_by_role("button", name=f"One more of {name}")
    more.click()
    changes.wait()
    older()
    answered(page)
    expect(count).to_have_text("2")
    more.click()
    expect(count).to_have_text("3")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"
                              and answer.json()["data"]["item"]["quantity"] == 3):
        changes.release()
    lists.release()
    expect(page.locator(".cart > li").nth(1).locator(".quantity-count")).to_have_text("7")
    expect(count).to_have_text("3")
    stored = visitor.send("GET", "/v1/shop/list").json()["data"]["items"]
    assert [item["quantity"] for item in stored] == [3, 7]


def test_web_20_presses_of_two_visitors_add_up(visitor):
    things.shopping(visitor, 1)
    page = visitor.open("/shop/list")
    row = page.locator(".cart > li").first
    changes = Late(page, re.compile(r"/v1/shop/list/items/1$"), "PATCH")
    row.get_by_role("button", name=re.compile("^One more of")).click()
    changes.wait()
    visitor.send("PATCH", "/v1/shop/list/items/1", {"by": 5})
    changes.release()
    expect(row.locator(".quantity-count")).to_have_text("7")


def test_web_20_a_product_is_added_once_however_quick_the_presses(visitor):
    page = visitor.open("/shop")
    card = page.locator(".product").first
    name = card.locator(".product-title").inner_text()
    adding = Late(page, "**/v1/shop/list/items", "POST")
    card.get_by_role("button", name=f"Add {name} to the list").click()
    adding.wait()
    for number in ["2", "3"]:
        card.get_by_role("button", name=f"One more of {name}").click()
        expect(card.locator(".quantity-count")).to_have_text(number)
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok):
        adding.release()
    expect(card.locator(".quantity-count")).to_have_text("3")
    assert [item["quantity"] for item in visitor.send("GET", "/v1/shop/list").json()["data"]["items"]] == [3]


def test_web_20_a_quantity_that_is_not_stored_is_taken_back(visitor):
    things.shopping(visitor, 1)
    page = visitor.open("/shop/list")
    row = page.locator(".cart > li").first
    expect(row.locator(".quantity-count")).to_have_text("1")
    page.route("**/v1/shop/list/items/1", lambda route: route.abort("connectionrefused"), times=1)
    row.get_by_role("button", name=re.compile("^One more of")).click()
    page.get_by_role("alertdialog").wait_for()
    page.keyboard.press("Escape")
    expect(row.locator(".quantity-count")).to_have_text("1")


def test_web_24_an_older_list_does_not_bring_a_deleted_row_back(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    rows = page.locator(".rows > li")
    rows.first.wait_for()
    things.wait_for_stream(page)
    name = rows.first.locator(".row-link").inner_text()
    lists = Late(page, re.compile(r"/v1/ships$"))
    page.get_by_role("button", name="Refresh").click()
    lists.wait()
    older = lists.respond()
    deletion = Late(page, re.compile(r"/v1/ships/\w+$"), "DELETE")
    page.get_by_role("button", name=f"Delete {name}").click()
    deletion.wait()
    older()
    answered(page)
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    # The row that took its place has the focus.
    expect(rows.first.locator(".row-link")).to_be_focused()
    deletion.release()
    lists.release()
    expect(page.get_by_role("button", name="Restore 1 deleted ship")).to_be_visible()


def test_web_13_a_change_before_the_stream_is_open_is_seen(visitor):
    visitor.log_in("notes")
    page = visitor.context.new_page()
    stream = Late(page, "**/v1/events*")
    page.goto("/notes")
    page.get_by_text("No Notes Yet").wait_for()
    stream.wait()
    things.note(visitor, "Written meanwhile")
    stream.release()
    expect(page.get_by_text("Written meanwhile").first).to_be_visible()


def test_web_13_a_change_while_another_tab_takes_over_the_stream_is_seen(visitor):
    visitor.log_in("notes")
    first = visitor.open("/notes")
    first.get_by_text("No Notes Yet").wait_for()
    things.wait_for_stream(first)
    page = visitor.open("/notes")
    page.get_by_text("No Notes Yet").wait_for()
    stream = Late(page, "**/v1/events*")
    first.close()
    stream.wait()
    things.note(visitor, "Written meanwhile")
    stream.release()
    expect(page.get_by_text("Written meanwhile").first).to_be_visible()


def test_web_30_the_focus_stays_where_it_is_when_a_page_is_drawn_anew(visitor, larder):
    visitor.log_in("disk", "notes")
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/note.txt", "text": "text"})
    note = things.note(visitor, "A heron")
    for path, selector, address in [
        ("/disk/file?path=" + quote("disk:/New/note.txt", safe=""), "button[aria-label='More actions']",
         "**/v1/disk/file?*"),
        (f"/notes/{note}", ".page-actions .primary", f"**/v1/notes/{note}?*"),
        ("/", ".home-card a[href='/ships']", "**/v1/status"),
    ]:
        page = visitor.open(path)
        control = page.locator(f"main {selector}")
        control.focus()
        with page.expect_response(address):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        answered(page)
        expect(control).to_be_focused()
        page.close()


def test_web_30_a_press_is_not_lost_when_a_page_is_drawn_anew_below_it(visitor):
    visitor.log_in("notes")
    note = things.note(visitor, "A heron")
    page = visitor.open(f"/notes/{note}")
    edit = page.get_by_role("button", name="Edit")
    edit.hover()
    page.mouse.down()
    with page.expect_response(re.compile(rf"/v1/notes/{note}\?")):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    answered(page)
    page.mouse.up()
    expect(page.get_by_label("Text")).to_be_visible()


def test_web_19_the_history_does_not_open_after_the_search(visitor):
    page = visitor.open("/shop")
    field = page.get_by_role("combobox", name="Search")
    for words in ["one", "two"]:
        field.fill(words)
        with page.expect_response(re.compile(f"/v1/shop/search.*q={words}")):
            field.press("Enter")
    history = Late(page, "**/v1/shop/history?*")
    field.fill("o")
    history.wait()
    field.press("Enter")
    history.release()
    answered(page)
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(0)
    expect(field).to_be_focused()


def test_web_17_a_folder_that_answers_late_is_not_shown_for_another(visitor, larder):
    visitor.log_in("disk")
    for name in ["Slow", "Quick"]:
        larder.control("PUT", "/yandex_disk/folders", {"path": f"disk:/Odd/{name}/in {name}"})
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/Odd/leaf.txt", "text": "leaf"})
    page = visitor.open("/disk/files?path=" + quote("disk:/Odd", safe=""))
    page.get_by_role("button", name="Actions for leaf.txt").click()
    page.get_by_role("menuitem", name="Move", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Odd", exact=True).click()
    quick = dialog.get_by_role("button", name="Quick", exact=True)
    quick.wait_for()
    slow = Late(page, re.compile(r"/v1/disk/files\?.*Slow"))
    # Both are pressed before the list of the first one is there.
    page.evaluate("""() => {
        const press = name => [...document.querySelectorAll('dialog .row-link')].find(one => one.textContent === name);
        const both = [press('Slow'), press('Quick')];
        for (const one of both) one.click();
    }""")
    dialog.get_by_role("button", name="in Quick", exact=True).wait_for()
    slow.wait()
    slow.release()
    answered(page)
    expect(dialog.get_by_role("button", name="in Quick", exact=True)).to_be_visible()
    expect(dialog.get_by_role("button", name="in Slow", exact=True)).to_have_count(0)


def test_web_41_the_view_of_a_folder_is_chosen_before_its_files_are_there(visitor):
    visitor.log_in("disk")
    page = visitor.context.new_page()
    files = Late(page, "**/v1/disk/files?*")
    page.goto("/disk/files", wait_until="domcontentloaded")
    page.get_by_role("button", name="Show as pictures").click()
    expect(page.get_by_role("button", name="Show as a list")).to_be_visible()
    files.wait()
    files.release()
    expect(page.locator(".gallery-view > li").first).to_be_visible()
    expect(page.get_by_role("alertdialog")).to_have_count(0)


def test_web_09_the_loss_of_the_network_of_this_machine_is_noticed_at_once(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.locator(".rows > li").first.wait_for()
    larder.fault("spacex", "offline")
    # What the browser says when the machine has no network any more.
    page.evaluate("dispatchEvent(new Event('offline'))")
    expect(page.locator(".banner")).to_have_text("No internet connection. You’re in Offline mode.")
