"""Home: what is one's own; and one search over all apps, by keys of any layout."""
import re
from urllib.parse import urlsplit

import things
from playwright.sync_api import expect
from screens import furnish, settle

# What the list of documents and the shell ask for.
OWN = {"/v1/pdf/launch", "/v1/pdf/welcome", "/v1/pdf/documents", "/v1/pdf/drafts", "/v1/status", "/v1/events"}


def card(page, name):
    return page.get_by_role("region", name=name)


def search(page, words):
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search everything").fill(words)


def hits(page, group):
    return page.get_by_role("listbox").get_by_role("group", name=group, exact=True).get_by_role("option")


def test_web_45_home_shows_what_is_mine_and_each_is_one_press_away(visitor):
    furnished = furnish(visitor)
    things.document(visitor.larder, photos=3, save=False)
    page = visitor.open("/")
    settle(page)
    expect(card(page, "Recent files").locator("li")).to_have_count(4)
    expect(card(page, "Shopping list").locator("li")).to_have_count(3)
    expect(card(page, "Shopping list")).to_contain_text("Sum: 531.70$")
    expect(card(page, "Notes").locator("li")).to_have_count(4)
    # What is not saved is first, and says so.
    expect(card(page, "Documents").locator("li").first).to_contain_text("Not saved yet")
    card(page, "Documents").locator(f"a[href='/pdf/{furnished['document']}']").click()
    expect(page.locator(".leaf-item")).to_have_count(2)
    page.go_back()
    card(page, "Notes").locator(f"a[href='/notes/{furnished['note']}']").or_(
        card(page, "Notes").locator("li a")).first.click()
    expect(page.locator(".note-body")).to_be_visible()
    # Who has something here needs no introduction.
    page.goto("/")
    expect(page.locator(".hero")).to_have_count(0)


def test_web_45_home_offers_the_login_and_follows_it_and_its_end(visitor):
    page = visitor.open("/")
    files = card(page, "Recent files")
    expect(files.get_by_role("link", name="Log in")).to_have_attribute("href", "/disk/login")
    expect(page.locator(".hero")).to_be_visible()
    things.wait_for_stream(page)
    other = visitor.open("/disk/login")
    other.get_by_role("button", name="Log in as anna").click()
    other.locator(".rows > li").first.wait_for()
    expect(files.locator("li")).to_have_count(4)
    other.goto("/disk/profile")
    other.get_by_role("button", name="Log Out").click()
    other.get_by_role("alertdialog").get_by_role("button", name="Yes").click()
    expect(files.locator("li")).to_have_count(0)
    expect(files.get_by_role("link", name="Log in")).to_be_visible()


def test_web_38_45_home_follows_what_is_changed_elsewhere(visitor):
    furnish(visitor)
    page = visitor.open("/")
    settle(page)
    things.wait_for_stream(page)
    things.note(visitor, "A note from the phone")
    expect(card(page, "Notes").get_by_role("link", name="A note from the phone")).to_be_visible()
    things.note(visitor, "- [ ] milk")
    expect(card(page, "Notes").get_by_role("link", name="☐ milk")).to_be_visible()
    visitor.send("DELETE", "/v1/shop/list")
    expect(card(page, "Shopping list")).to_contain_text("Nothing here yet")
    things.document(visitor.larder, save=False)
    expect(card(page, "Documents").get_by_text("Not saved yet")).to_be_visible()


def test_web_45_one_search_finds_in_all_apps_and_opens_by_enter(visitor, larder):
    furnish(visitor)
    larder.control("PUT", "/yandex_disk/files", {"path": "disk:/sydney trip.txt", "text": "x"})
    visitor.send("GET", "/v1/disk/search?q=sydney&refresh=1")
    page = visitor.open("/shop?q=")
    search(page, "sydney")
    expect(hits(page, "Notes").first).to_contain_text("Note 4 of Sydney")
    expect(hits(page, "Disk").first).to_contain_text("sydney trip.txt")
    # Arrows lead through all groups, Enter opens.
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    chosen = page.locator("[role=option][aria-selected=true]").get_attribute("data-page")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(re.escape(chosen)))
    # Products, ships and places of the pages as well.
    search(page, "hoodie")
    hits(page, "Shop").first.wait_for()
    # What is looked for here is no search of the Shop.
    assert visitor.send("GET", "/v1/shop/history").json()["data"]["items"] == []
    hits(page, "Shop").first.click()
    expect(page.locator("h1")).to_contain_text("Hoodie")
    with page.expect_response(lambda answer: answer.url.endswith("/v1/ships?q=gentle") and answer.ok):
        search(page, "gentle")
    hits(page, "Ships").first.click()
    expect(page.get_by_role("dialog").get_by_role("heading", name="A Gentle Landing, Mostly")).to_be_visible()
    page.keyboard.press("Escape")
    search(page, "new note")
    # The way back from the ship may end below the search.
    expect(page.locator("h1")).to_contain_text("Hoodie")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="New note")).to_be_visible()


def test_web_45_keys_are_heard_while_the_way_back_from_a_ship_is_taken(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.evaluate("window.back = history.back.bind(history); history.back = () => {}")
    page.get_by_role("link", name="A Gentle Landing, Mostly").click()
    expect(page.get_by_role("dialog").get_by_role("heading", name="A Gentle Landing, Mostly")).to_be_visible()
    page.keyboard.press("Escape")
    search(page, "notes")
    page.evaluate("window.back()")
    page.wait_for_url("**/ships")
    expect(page.get_by_role("combobox", name="Search everything")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="A Gentle Landing, Mostly")).to_be_focused()


def test_web_45_the_search_is_a_press_on_a_phone_and_gives_the_focus_back(visit, larder):
    phone = visit(larder, width=390, height=844)
    phone.log_in("notes")
    things.note(phone, "Bread and milk")
    page = phone.open("/notes")
    opener = page.get_by_role("button", name="Search everything")
    opener.click()
    page.get_by_role("combobox").fill("bread")
    expect(hits(page, "Notes")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()
    opener.click()
    page.get_by_role("combobox").fill("zzzz")
    said = page.get_by_role("dialog").get_by_role("status")
    expect(said).to_have_text("Nothing found")
    # Below the field, in a sheet that ends where the window does; arrow keys are for who has them.
    field, sheet = page.get_by_role("combobox").bounding_box(), page.get_by_role("dialog").bounding_box()
    assert 0 <= said.bounding_box()["y"] - field["y"] - field["height"] < 24
    assert abs(sheet["y"] + sheet["height"] - 844) < 1


def test_web_45_the_search_says_that_larder_cannot_be_reached(visitor, larder):
    page = visitor.open("/pdf")
    settle(page)
    larder.stop()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("alertdialog", name="Larder cannot be reached")).to_be_visible()


# A key of a Russian layout, by its place: its letter, and where it is.
RUSSIAN = """([key, code, shift]) => document.body.dispatchEvent(new KeyboardEvent('keydown',
    {key, code, shiftKey: shift ?? false, bubbles: true, cancelable: true}))"""


def test_web_45_shortcuts_are_by_the_place_of_keys(visitor):
    visitor.log_in("notes")
    page = visitor.open("/")

    def press(*keys):
        for key in keys:
            page.evaluate(RUSSIAN, list(key))

    press(("п", "KeyG"), ("т", "KeyN"))
    page.wait_for_url(re.compile("/notes"))
    page.get_by_role("searchbox").wait_for()
    press((".", "Slash"))
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.locator("h1").focus()
    press((",", "Slash", True))
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_web_45_a_row_is_deleted_by_the_key_of_that_name(visitor):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    first = page.locator(".rows > li .row-link").first
    name = first.inner_text()
    first.focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_web_13_45_a_search_does_not_ask_before_something_is_typed(visitor):
    page = visitor.open("/pdf")
    settle(page)
    page.keyboard.press("Control+k")
    page.get_by_role("option").first.wait_for()
    asked = [urlsplit(one).path for one in visitor.requests]
    assert {path for path in asked if path.startswith("/v1/")} <= OWN


def test_web_17_45_a_file_has_the_same_sign_in_each_list(visitor):
    visitor.log_in("disk")
    page = visitor.open("/")
    mark = "li:has-text('Прочти меня.txt') .file-sign path"
    at_home = card(page, "Recent files").locator(mark).get_attribute("d")
    page.goto("/disk/recent")
    assert page.locator(mark).get_attribute("d") == at_home
    # A text like it, which the trash has from the start.
    page.goto("/disk/trash")
    assert page.locator("li:has-text('черновик.txt') .file-sign path").get_attribute("d") == at_home
    search(page, "Прочти")
    assert hits(page, "Disk").first.locator("path").get_attribute("d") == at_home
