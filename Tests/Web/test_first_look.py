"""What somebody stumbled over who saw the pages for the first time."""
import re

import pytest
import things
from playwright.sync_api import expect


@pytest.mark.parametrize("path", ["/ships/login", "/notes/login", "/disk/login"])
@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_31_the_buttons_of_a_login_have_one_line_on_a_phone(visit, larder, path, locale):
    page = visit(larder, width=390, locale=locale).open(path)
    buttons = page.locator(".form-actions .button:visible")
    buttons.first.wait_for()
    assert all(height < 50 for height in buttons.evaluate_all("all => all.map(one => one.offsetHeight)"))


@pytest.mark.settings(ships_login_delay_ms=60_000)
def test_web_31_a_login_that_is_under_way_has_buttons_of_one_line(visitor):
    page = visitor.open("/ships/login")
    page.get_by_label("E-mail").fill("anna@example.com")
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Cancel").wait_for()
    heights = page.locator(".form-actions .button:visible").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert len(heights) == 3 and all(height < 50 for height in heights)


def test_web_45_who_is_new_reads_where_to_start_before_empty_cards(visitor):
    page = visitor.open("/")
    start, mine = page.get_by_role("heading", name="Start here"), page.get_by_role("heading", name="Recent files")
    mine.wait_for()
    assert start.bounding_box()["y"] < mine.bounding_box()["y"]
    # Who has something here sees that first.
    things.shopping(visitor, 1)
    page.reload()
    page.get_by_text("Sum:").wait_for()
    page.reload()
    page.get_by_text("Sum:").wait_for()
    start.wait_for()
    assert mine.bounding_box()["y"] < start.bounding_box()["y"]


def test_web_41_a_press_anywhere_on_a_row_chooses_it_while_rows_are_chosen(visitor):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    rows = page.locator(".rows > li")
    rows.nth(3).wait_for()
    page.get_by_role("button", name="Select").click()
    expect(page.locator(".selection [role=status]")).to_have_text("0 selected")
    delete = page.locator(".selection").get_by_role("button", name="Delete")
    expect(delete).to_have_js_property("inert", True)
    rows.nth(0).locator(".row-link").click()
    expect(delete).to_have_js_property("inert", False)
    rows.nth(2).locator(".row-main").click(modifiers=["Shift"])
    expect(page.locator(".row-check:checked")).to_have_count(3)
    rows.nth(1).locator(".row-link").press("Enter")
    expect(page.locator(".row-check:checked")).to_have_count(2)
    expect(page).to_have_url(re.compile("/disk/files$"))
    page.get_by_role("button", name="Done").click()
    rows.nth(0).locator(".row-link").click()
    expect(page).not_to_have_url(re.compile("/disk/files$"))


def test_web_17_a_file_is_not_moved_to_where_it_is(visitor):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.get_by_role("button", name=re.compile("Actions for")).last.click()
    page.get_by_role("menuitem", name="Move").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move here")).to_be_disabled()
    dialog.locator(".folder-list button").first.click()
    expect(dialog.get_by_role("button", name="Move here")).to_be_enabled()


def test_web_17_a_published_file_is_withdrawn_where_its_link_is_shown(visitor):
    visitor.log_in("disk")
    visitor.send("PUT", "/v1/disk/file/content?path=disk%3A%2Fx.txt", b"text", **{"Content-Type": "text/plain"})
    page = visitor.open("/disk/files")
    page.get_by_role("button", name="Actions for x.txt").click()
    page.get_by_role("menuitem", name="Share link").click()
    dialog = page.get_by_role("dialog")
    # Nothing is public before it is asked, and nothing is if the answer is no.
    dialog.get_by_text("Everyone who has the link can see it.").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert not visitor.send("GET", "/v1/disk/file?path=disk%3A%2Fx.txt").json()["data"]["published"]
    page.get_by_role("button", name="Actions for x.txt").click()
    page.get_by_role("menuitem", name="Share link").click()
    dialog.get_by_role("button", name="Create the link").click()
    dialog.get_by_label("Share link").wait_for()
    assert visitor.send("GET", "/v1/disk/file?path=disk%3A%2Fx.txt").json()["data"]["published"]
    dialog.get_by_role("button", name="Stop sharing").click()
    expect(dialog).to_have_count(0)
    assert not visitor.send("GET", "/v1/disk/file?path=disk%3A%2Fx.txt").json()["data"]["published"]


def test_web_44_a_banner_that_goes_by_itself_moves_no_row(visitor, larder):
    visitor.log_in("disk")
    page = visitor.open("/disk/recent")
    row = page.locator(".rows > li").nth(2)
    row.wait_for()
    before = row.bounding_box()["y"]
    larder.fault("yandex_disk", "offline")
    page.get_by_role("button", name="Refresh").click()
    banner = page.locator(".banner.low")
    expect(banner).not_to_have_class(re.compile("hidden"))
    expect(banner).to_be_in_viewport()
    page.locator(".chip[data-kind=offline]").wait_for()
    during = row.bounding_box()["y"]
    # Its words stay for screen readers.
    expect(banner).to_have_class(re.compile("hidden"))
    assert row.bounding_box()["y"] == during == before


def test_shop_08_a_search_that_found_nothing_is_cleared_and_not_brought_back(visitor):
    page = visitor.open("/shop?q=zzzz")
    page.locator(".state").wait_for()
    page.goto("/shop")
    page.locator(".product").first.wait_for()
    page.goto("/shop?q=zzzz")
    page.get_by_role("button", name="Clear the search").click()
    page.locator(".product").first.wait_for()
    expect(page.get_by_role("combobox", name="Search")).to_have_value("")


def test_web_20_a_favourite_is_put_on_the_list(visitor):
    visitor.send("POST", "/v1/shop/favourites", {"product_id": 2})
    page = visitor.open("/shop/favourites")
    page.get_by_role("button", name=re.compile("^Add .* to the list$")).click()
    expect(page.locator(".quantity-count")).to_have_text("1")
    expect(page.get_by_role("link", name="Shopping list, 1")).to_be_visible()


def test_web_27_a_reset_of_the_sandbox_asks_first(visitor, larder):
    larder.fault("spacex", "offline")
    page = visitor.open("/status")
    for answer in ["Cancel", "Reset the sandbox"]:
        page.locator("main").get_by_role("button", name="Reset the sandbox").click()
        page.get_by_role("alertdialog").get_by_role("button", name=answer).click()
        expect(page.get_by_role("alertdialog")).to_have_count(0)
        if answer == "Cancel":
            assert any(one["fault"] == "offline" for one in larder.control("GET", "")["upstreams"])
    page.get_by_text("All is as at the start.").wait_for()
    assert all(one["fault"] != "offline" for one in larder.control("GET", "")["upstreams"])


def test_web_10_what_is_not_there_has_a_way_out_and_no_tools(visitor):
    visitor.log_in("disk")
    for path, app in [("/disk/files?path=disk%3A%2Fnope", "Disk"), ("/shop/99999", "Shop"), ("/pdf/nothing", "PDF")]:
        page = visitor.open(path)
        expect(page.locator(".state-problem").get_by_role("link", name=app, exact=True)).to_be_visible()
        expect(page.locator(".toolbar:visible")).to_have_count(0)


def test_web_41_hits_of_one_name_are_told_apart_and_back_leads_where_one_came_from(visitor):
    visitor.log_in("disk")
    text = {"Content-Type": "text/plain"}
    for folder in ["One", "Two"]:
        visitor.send("POST", "/v1/disk/folders", {"path": f"disk:/{folder}"})
        visitor.send("PUT", f"/v1/disk/file/content?path=disk%3A%2F{folder}%2Ftwin.txt", folder.encode(), **text)
    page = visitor.open("/disk/search?q=twin")
    rows = page.locator(".rows > li")
    expect(rows).to_have_count(2)
    assert sorted(rows.locator(".fact-folder").all_inner_texts()) == ["One", "Two"]
    rows.first.locator(".row-link").click()
    page.locator(".file-page").wait_for()
    page.get_by_role("link", name="Back").click()
    expect(page).to_have_url(re.compile(r"/disk/search\?q=twin$"))
    # Who came by the address of the file has its folder above.
    page.goto("/disk/file?path=disk%3A%2FOne%2Ftwin.txt")
    page.get_by_role("link", name="Back").click()
    expect(page).to_have_url(re.compile(r"/disk/files\?path=disk(%3A|:)(%2F|/)One$"))


def test_web_16_one_place_is_no_places(visitor):
    visitor.log_in("notes")
    page = visitor.open("/notes/new")
    page.get_by_role("combobox", name="Place").fill("Reykjavik")
    page.get_by_role("option").first.wait_for()
    count = page.get_by_role("option").count()
    expect(page.locator(".note-where [role=status]")).to_have_text(f"Places: {count}")


def test_web_19_the_history_is_forgotten_by_keyboard(visitor):
    for words in ["one", "two"]:
        visitor.send("GET", f"/v1/shop/search?q={words}")
    page = visitor.open("/shop?q=")
    field, options = page.get_by_role("combobox", name="Search"), page.get_by_role("listbox").get_by_role("option")
    field.focus()
    expect(options).to_have_count(2)
    field.press("ArrowDown")
    field.press("Delete")
    expect(options).to_have_count(1)
    assert [one["q"] for one in visitor.send("GET", "/v1/shop/history").json()["data"]["items"]] == ["one"]
