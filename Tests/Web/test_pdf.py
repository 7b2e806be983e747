"""The PDF app."""
import re

import pytest
import things
from playwright.sync_api import expect

COLOURS = {"red.png": (150, 30, 20), "green.png": (10, 107, 76), "blue.png": (20, 40, 130)}


def choose(page, files):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=re.compile("Choose photos|Add more")).first.click()
    chooser.value.set_files(files)


def names(page):
    return page.locator(".photos .row-name").all_inner_texts()


def documents(larder):
    return larder.call("GET", "/v1/pdf/documents")["data"]["items"]


def test_web_21_three_photos_become_a_document_that_is_read_shared_and_saved(visitor, larder):
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    things.document(larder)
    page = visitor.open("/pdf")
    page.get_by_role("link", name="New document").click()
    choose(page, [things.file(name, things.photo(colour)) for name, colour in COLOURS.items()])
    expect(page.locator(".photos .row-name")).to_have_text(list(COLOURS))
    page.get_by_role("button", name="Move red.png").focus()
    page.keyboard.press("ArrowDown")
    assert names(page) == ["green.png", "red.png", "blue.png"]
    page.get_by_role("button", name="Make PDF").click()
    expect(page.get_by_role("img", name="Page 3")).to_be_visible()
    expect(page.get_by_text("Draft")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Share").or_(page.get_by_role("button", name="Share")).first.click()
    with open(download.value.path(), "rb") as file:
        assert file.read(5) == b"%PDF-"
    assert len(documents(larder)) == 1
    page.get_by_role("button", name="Save").first.click()
    page.get_by_role("dialog").get_by_label("Name").fill("Three colours")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_contain_text("Three colours")
    page.goto("/pdf")
    expect(page.locator(".rows > li .row-link").first).to_have_text("Three colours.pdf")


@pytest.mark.settings(clock_start="2026-01-05T23:30:00Z")
def test_web_21_a_document_has_the_time_of_the_browser_in_its_name_and_in_the_trash(visitor):
    page = visitor.open("/pdf/new")
    choose(page, [things.file("red.png", things.photo((200, 0, 0)))])
    page.get_by_role("button", name="Make PDF").click()
    expect(page.locator("h1")).to_have_text("Document 2026-01-06 01-30")
    document = "/v1/pdf/documents/" + page.url.rsplit("/", 1)[1]
    page.close()
    visitor.send("POST", document + "/save", {})
    visitor.send("DELETE", document)
    page = visitor.open("/pdf/trash")
    dates = re.compile(r"^Deleted 6 Jan · Kept until \d{1,2} \w{3}$")
    expect(page.locator(".row-sub")).to_have_text(dates)
    expect(page.locator(".rows .file-sign")).to_be_visible()


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_w18_a_page_of_a_document_begins_in_the_upper_third_of_a_phone(visit, larder, locale):
    visitor = visit(larder, width=390, height=844, locale=locale)
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    for save, most in [(False, 300), (True, 220)]:
        page = visitor.open(f"/pdf/{things.document(larder, save=save)}")
        page.locator(".leaf-item img").first.wait_for()
        assert page.locator(".leaf-item").first.bounding_box()["y"] < most
        title, more = page.locator("h1").bounding_box(), page.locator(".page-actions button").last.bounding_box()
        assert more["y"] < title["y"] + title["height"], "the actions are beside the title"
        assert title["height"] < 64
        share = re.compile("^(Share|Поделиться)$")
        if not save:
            words = page.get_by_role("button", name=re.compile("^(Save|Сохранить)$")).locator("span")
            assert words.bounding_box()["width"] > 30
            page.locator(".page-actions button").last.click()
        expect(page.get_by_role("menuitem" if not save else "link", name=share)).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_w18_a_long_name_takes_two_lines_beside_the_buttons(visit, larder, width):
    visitor = visit(larder, width=width)
    number = things.document(larder)
    visitor.send("PATCH", f"/v1/pdf/documents/{number}", {"name": "One document + another one " * 7})
    page = visitor.open(f"/pdf/{number}")
    page.locator(".leaf-item img").first.wait_for()
    title, share = page.locator("h1").bounding_box(), page.get_by_role("link", name="Share").bounding_box()
    assert title["height"] < 64
    assert title["x"] + title["width"] <= share["x"] and share["y"] < title["y"] + title["height"]
    # What is cut is told where it is pointed at; what is whole is not said again.
    page.locator("h1").hover()
    expect(page.locator("h1")).to_have_attribute("title", re.compile("^(One document.*){7}"))
    visitor.send("PATCH", f"/v1/pdf/documents/{number}", {"name": "One"})
    expect(page.locator("h1")).to_have_text("One")
    page.locator(".leaf-item").first.hover()
    page.locator("h1").hover()
    expect(page.locator("h1")).to_have_attribute("title", "")


def test_web_35_a_document_that_was_not_saved_is_on_the_shelf_until_it_is_saved_or_discarded(visitor, larder):
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    ids = [things.document(larder, save=False) for _ in range(2)]
    page = visitor.open("/pdf")
    shelf = page.get_by_role("region", name="Not saved yet")
    expect(shelf.locator("li")).to_have_count(2)
    expect(shelf.locator("li").first).to_contain_text("Kept until")
    shelf.locator("li").first.get_by_role("button", name="Save").click()
    expect(shelf.locator("li")).to_have_count(1)
    assert [one["id"] for one in documents(larder)] == [ids[1]]
    expect(page.get_by_role("list", name="Saved documents").locator("li")).to_have_count(1)
    shelf.get_by_role("button", name="Discard").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(shelf).to_have_count(0)
    assert larder.call("GET", "/v1/pdf/drafts")["data"]["items"] == []


def test_web_35_a_text_that_is_typed_in_a_dialog_is_not_lost_by_a_key_or_a_press_beside_it(visitor, larder):
    made = things.document(larder)
    page = visitor.open(f"/pdf/{made}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Add text").click()
    box = page.get_by_role("dialog").get_by_label("Text")
    box.fill("Dictated for ten minutes")
    question = page.get_by_role("alertdialog")
    for leave in [lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(2, 2),
                  lambda: page.get_by_role("dialog").get_by_role("button", name="Close").first.click()]:
        leave()
        question.get_by_role("button", name="Go on editing").click()
        expect(box).to_have_value("Dictated for ten minutes")
    page.keyboard.press("Escape")
    question.get_by_role("button", name="Discard").click()
    expect(box).to_have_count(0)
    # Nothing typed, no question.
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Add text").click()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_web_21_a_file_of_another_kind_is_named_and_nothing_is_made(visitor, larder):
    page = visitor.open("/pdf/new")
    choose(page, [things.file("good.png"), things.file("broken.jpg", b"no picture at all", "image/jpeg")])
    page.get_by_role("button", name="Make PDF").click()
    expect(page.get_by_text("Nothing was made")).to_be_visible()
    expect(page.locator(".photos > li", has_text="broken.jpg").locator(".field-error")).to_be_visible()
    expect(page.locator(".photos > li", has_text="good.png").locator(".field-error")).to_have_count(0)
    assert names(page) == ["good.png", "broken.jpg"] and documents(larder) == []
    page.get_by_role("button", name="Leave out broken.jpg").click()
    page.get_by_role("button", name="Make PDF").click()
    expect(page.get_by_role("img", name="Page 1")).to_be_visible()


def test_web_22_pages_are_turned_moved_deleted_and_taken_out(visitor, larder):
    number = things.document(larder, photos=3)
    page = visitor.open(f"/pdf/{number}")

    def pages():
        return larder.call("GET", f"/v1/pdf/documents/{number}")["data"]["pages"]

    before = [one["id"] for one in pages()]
    page.get_by_role("button", name="Rotate page 1").click()
    page.locator("img[data-rotation='90']").wait_for()
    assert pages()[0]["rotation"] == 90
    page.get_by_role("button", name="Move Page 1").focus()
    with page.expect_response(lambda answer: answer.url.endswith("/pages/order")):
        page.keyboard.press("ArrowDown")
    assert [one["id"] for one in pages()] == [before[1], before[0], before[2]]
    page.get_by_role("button", name="Delete page 3").click()
    expect(page.locator(".leaf-item")).to_have_count(2)
    page.get_by_role("button", name="Arrange pages").click()
    page.get_by_role("checkbox", name="Select page 1").check()
    page.get_by_role("button", name="Make a document of them").click()
    page.get_by_role("dialog").get_by_label("Name").fill("One page")
    page.get_by_role("dialog").locator("button[type=submit]").click()
    expect(page.locator("h1")).to_contain_text("One page")
    expect(page.locator(".leaf-item")).to_have_count(1)


def test_web_22_text_is_added_and_documents_are_merged(visitor, larder):
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    first, second = things.document(larder, 1), things.document(larder, 2)
    page = visitor.open(f"/pdf/{first}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=re.compile("text", re.I)).click()
    page.get_by_role("textbox", name="Text").fill("Съешь ещё этих мягких французских булок")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.locator(".leaf-item")).to_have_count(2)
    page.goto("/pdf")
    rows = page.locator(".rows > li")
    expect(rows).to_have_count(2)
    page.locator(f".rows > li:has(a[href='/pdf/{first}']) button").click()
    page.get_by_role("menuitem", name="Merge").click()
    expect(page.get_by_text("Choose the second document")).to_be_visible()
    page.locator(f"a[href='/pdf/{second}']").click()
    expect(rows).to_have_count(3)
    assert documents(larder)[0]["page_count"] == 4


def test_web_22_a_document_is_not_merged_with_itself(visitor, larder):
    visitor.send("PUT", "/v1/pdf/welcome", {"seen": True})
    for _ in range(2):
        things.document(larder)
    page = visitor.open("/pdf")
    rows = page.locator(".documents > li")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name=re.compile("Actions for")).first.click()
    page.get_by_role("menuitem", name=re.compile("Merge")).click()
    page.get_by_text("Choose the second document").wait_for()
    expect(page.locator(".selection .muted")).to_have_css("font-weight", "400")
    assert rows.evaluate_all("rows => rows.map(row => row.inert)") == [True, False]
    page.get_by_role("button", name="Cancel").click()
    assert rows.evaluate_all("rows => rows.map(row => row.inert)") == [False, False]


def test_web_22_a_lost_race_says_so_and_loses_no_input(visitor, larder):
    number = things.document(larder, 1)
    page = visitor.open(f"/pdf/{number}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=re.compile("text", re.I)).click()
    page.get_by_role("textbox", name="Text").fill("Not to be lost")

    def change_first(route):
        # Between the press and the request, another client renames the document.
        larder.call("PATCH", f"/v1/pdf/documents/{number}", {"name": "Renamed elsewhere"})
        route.continue_()

    page.route("**/pages*", change_first, times=1)
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_text("Nothing was overwritten").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("Not to be lost")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.locator(".leaf-item")).to_have_count(2)
