"""The Notes app."""
import re

import axe
import pytest
import things
from engines import until
from playwright.sync_api import expect
from screens import settle_map


@pytest.fixture
def anna(visitor):
    visitor.log_in("notes")
    return visitor


def save(page):
    page.get_by_role("button", name="Save", exact=True).click()


def test_web_25_a_note_is_written_with_a_place_found_offline_changed_and_deleted(anna, larder):
    larder.fault("geocoder", "offline")
    page = anna.open("/notes")
    page.get_by_role("link", name="Create Note").or_(page.get_by_role("link", name="New note")).first.click()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    page.get_by_label("Text").fill("A dog outside\n🐕 und Ärger")
    place = page.get_by_role("combobox", name="Place")
    place.fill("Helsin")
    page.get_by_role("option", name=re.compile("Helsinki")).first.click()
    save(page)
    expect(page.locator("h1")).to_have_text("A dog outside")
    expect(page.get_by_text("Helsinki").first).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("A cat inside")
    save(page)
    expect(page.locator("h1")).to_have_text("A cat inside")
    page.get_by_role("button", name="Delete note").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete note").click()
    expect(page.get_by_text("No Notes Yet")).to_be_visible()


def test_web_35_a_new_note_takes_the_first_letters_that_are_typed(anna):
    page = anna.open("/notes")
    page.get_by_role("link", name="Create Note").or_(page.get_by_role("link", name="New note")).first.click()
    box = page.get_by_label("Text")
    expect(box).to_be_focused()
    # Letters that are shortcuts elsewhere: search, go to, help.
    page.keyboard.type("/gd?")
    expect(box).to_have_value("/gd?")


def test_web_25_a_note_is_written_where_the_person_is(anna):
    anna.context.grant_permissions(["geolocation"])
    anna.context.set_geolocation({"latitude": 60.17, "longitude": 24.94})
    page = anna.open("/notes/new")
    page.get_by_label("Text").fill("Here")
    page.get_by_role("button", name="Use my place").click()
    page.get_by_role("button", name="Remove the place").wait_for()
    save(page)
    expect(page.locator("h1")).to_have_text("Here")
    location = anna.send("GET", "/v1/notes").json()["data"]["items"][0]["location"]
    assert (location["lat"], location["lon"]) == (60.17, 24.94)


def test_web_25_the_only_note_is_deleted_in_the_list(anna):
    things.note(anna, "The only one")
    page = anna.open("/notes")
    page.get_by_role("button", name="Delete note").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete note").click()
    expect(page.get_by_text("No Notes Yet")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="The only one")).to_be_visible()


def test_web_25_a_note_is_deleted_although_the_way_back_cannot_be_loaded(anna):
    for text in ["- [ ] In the list", "- [ ] In the note"]:
        things.note(anna, text)
    page = anna.open("/notes")

    def refuse(route):
        anna.missing.append(route.request.url)
        route.abort()

    # As after an upgrade of the server, which has other names for its files.
    page.route("**/trash.js", refuse)
    question, said = page.get_by_role("alertdialog"), page.get_by_text("Note deleted", exact=True)
    rows = page.locator(".rows > li")
    rows.filter(has_text="☐ In the list").get_by_role("button", name="Delete note").click()
    expect(question).to_contain_text("☐ In the list")
    question.get_by_role("button", name="Delete note").click()
    expect(said).to_be_visible()
    expect(question).to_have_count(0)
    expect(rows).to_have_text([re.compile("☐ In the note")])
    page.reload()
    page.get_by_role("link", name="☐ In the note").click()
    page.locator(".note-body").wait_for()
    page.get_by_role("button", name="Delete note").click()
    expect(question).to_contain_text("☐ In the note")
    question.get_by_role("button", name="Delete note").click()
    expect(said).to_be_visible()
    expect(question).to_have_count(0)
    expect(page.get_by_text("No Notes Yet")).to_be_visible()
    assert bodies(anna) == []


def test_web_25_a_lost_race_shows_both_texts_and_loses_neither(anna):
    note = things.note(anna, "First text")
    page = anna.open(f"/notes/{note}")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("Mine")
    anna.send("PATCH", f"/v1/notes/{note}", {"body": "Theirs"})
    save(page)
    race = page.get_by_role("dialog")
    expect(race).to_contain_text("Mine")
    expect(race).to_contain_text("Theirs")
    race.get_by_role("button", name="Go on editing").click()
    expect(page.get_by_label("Text")).to_have_value("Mine")
    save(page)
    race.get_by_role("button", name="Save mine").click()
    expect(page.locator("h1")).to_have_text("Mine")
    assert anna.send("GET", f"/v1/notes/{note}").json()["data"]["body"] == "Mine"


def bodies(visitor):
    notes = visitor.send("GET", "/v1/notes").json()["data"]["items"]
    return [visitor.send("GET", note["href"]).json()["data"]["body"] for note in notes]


def test_web_25_what_is_typed_is_saved_when_it_is_left(anna):
    page = anna.open("/notes")
    page.get_by_role("link", name="New note").click()
    page.get_by_label("Text").fill("Half a thought")
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").click()
    page.locator(".product").first.wait_for()
    expect(page.get_by_text("Note saved")).to_be_visible()
    assert bodies(anna) == ["Half a thought"]
    page.goto("/notes")
    page.get_by_role("link", name="Half a thought").click()
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text").fill("A whole one")
    page.go_back()
    page.get_by_role("link", name="A whole one").wait_for()
    assert bodies(anna) == ["A whole one"]


@pytest.mark.parametrize("locale, undo, said", [("en-GB", "Undo", "The note is as before"),
                                                ("ru-RU", "Вернуть", "Заметка прежняя")])
def test_web_25_what_was_saved_by_leaving_can_be_taken_back(visit, larder, locale, undo, said):
    visitor = visit(larder, locale=locale)
    visitor.log_in("notes")
    note = things.note(visitor, "As it was", ("Sydney", -33.87, 151.21))
    page = visitor.open(f"/notes/{note}?edit=1")
    page.locator("textarea").fill("Changed by mistake")
    page.locator(".note-where").get_by_role("button").first.click()
    page.locator(".nav-link").nth(1).click()
    page.locator(".product").first.wait_for()
    until(lambda: bodies(visitor) == ["Changed by mistake"], "the note to be saved")
    page.get_by_role("button", name=undo).click()
    expect(page.get_by_text(said)).to_be_visible()
    assert bodies(visitor) == ["As it was"]
    assert visitor.send("GET", f"/v1/notes/{note}").json()["data"]["location"]["name"] == "Sydney"


def test_web_25_a_new_note_that_leaving_saved_can_be_taken_back(anna):
    page = anna.open("/notes/new")
    page.get_by_label("Text").fill("Nothing")
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Note deleted")).to_be_visible()
    assert bodies(anna) == []


def test_web_25_an_undo_leads_back_to_what_leaving_has_overwritten(anna):
    note = things.note(anna, "First text")
    page = anna.open(f"/notes/{note}?edit=1")
    page.locator("textarea").fill("Mine")
    version = anna.send("GET", f"/v1/notes/{note}").json()["data"]["version"]
    anna.send("PATCH", f"/v1/notes/{note}", {"body": "Theirs"}, **{"If-Match": f'"{version}"'})
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").click()
    page.get_by_role("dialog").get_by_role("button", name="Save mine").click()
    until(lambda: bodies(anna) == ["Mine"], "the note to be saved")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The note is as before")).to_be_visible()
    assert bodies(anna) == ["Theirs"]


@pytest.mark.parametrize("key", ["Delete", "#"])
def test_web_27_a_key_asks_before_it_deletes_a_note(anna, key):
    things.note(anna, "Stays")
    page = anna.open("/notes")
    page.get_by_role("link", name="Stays").focus()
    page.keyboard.press(key)
    page.get_by_role("alertdialog").get_by_role("button", name="Keep it").click()
    assert bodies(anna) == ["Stays"]


@pytest.mark.parametrize("path", ["/notes", "/notes/map", "/notes/people"])
def test_web_25_one_logs_out_where_one_is(anna, path):
    page = anna.open(path)
    page.get_by_role("button", name="Account and files").click()
    page.get_by_role("menuitem", name="Log out (anna)").click()
    page.get_by_role("textbox", name="User name").wait_for()
    assert anna.context.request.get("/v1/notes").status == 401


def test_web_25_what_cannot_be_saved_is_asked_about_before_it_is_left(anna):
    page = anna.open("/notes")
    page.get_by_role("link", name="New note").click()
    page.get_by_label("Text").fill("Half a thought")
    page.route("**/v1/notes?**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.get_by_role("navigation", name="Apps").get_by_role("link", name="Shop").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Go on editing").click()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("Half a thought")
    page.go_back()
    page.get_by_role("alertdialog").get_by_role("button", name="Go on editing").click()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("Half a thought")
    # On purpose nothing is saved.
    page.unroute("**/v1/notes?**")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    expect(page).to_have_url(re.compile("/notes$"))
    assert bodies(anna) == []


def test_web_25_a_note_has_links_and_boxes_that_are_checked_off(anna):
    text = "Shopping\n- [ ] milk from https://shop.example/milk?a=1.\n- [x] bread\n- no box"
    note = things.note(anna, text)
    page, other = anna.open(f"/notes/{note}"), anna.open(f"/notes/{note}")
    link = page.get_by_role("link", name="https://shop.example/milk?a=1", exact=True)
    expect(link).to_have_attribute("href", "https://shop.example/milk?a=1")
    assert {"noopener", "noreferrer"} == set(link.get_attribute("rel").split())
    expect(page.get_by_role("checkbox", name="bread")).to_be_checked()
    milk = page.get_by_role("checkbox", name=re.compile("milk"))
    milk.focus()
    page.keyboard.press("Space")
    page.get_by_role("checkbox", name="bread").click()
    expect(other.get_by_role("checkbox", name=re.compile("milk"))).to_be_checked()
    expect(other.get_by_role("checkbox", name="bread")).not_to_be_checked()
    until(lambda: bodies(anna) == [text.replace("[ ]", "[X]").replace("[x]", "[ ]").replace("[X]", "[x]")],
          "both boxes to be stored")
    axe.check(page)


def test_web_25_boxes_are_typed(anna):
    page = anna.open("/notes/new")
    page.get_by_label("Text").fill("To buy\n")
    page.get_by_role("button", name="Check box").click()
    page.keyboard.type("milk")
    page.keyboard.press("Enter")
    page.keyboard.type("bread")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("That is all")
    expect(page.get_by_label("Text")).to_have_value("To buy\n- [ ] milk\n- [ ] bread\nThat is all")
    save(page)
    expect(page.get_by_role("checkbox")).to_have_count(2)
    page.get_by_role("link", name="Back").click()
    row = page.locator(".rows > li")
    expect(row.locator(".row-link")).to_have_text("To buy")
    expect(row).to_contain_text("☐ milk ☐ bread That is all")


@pytest.mark.settings(clock_start="2026-01-05T23:30:00Z")
@pytest.mark.parametrize("zone, hour", [("Europe/Helsinki", "01:"), ("UTC", "23:")])
def test_web_25_times_are_of_the_zone_of_the_browser(visit, larder, zone, hour):
    visitor = visit(larder, timezone_id=zone)
    visitor.log_in("notes")
    things.note(visitor, "Written at night")
    page = visitor.open("/notes")
    expect(page.locator(".row-sub").first).to_contain_text(f"Today at {hour}")


def test_web_26_pins_clusters_and_the_list_beside(anna):
    things.notes(anna, 5)
    for number in range(4):
        things.note(anna, f"Near the Acropolis {number}", ("Αθήνα", 37.98 + number / 10_000, 23.73))
    page = anna.open("/notes/map")
    pins, listed = page.locator(".map-pin, .map-cluster"), page.get_by_role("heading", name="On this map")
    listed.wait_for()
    pins.first.wait_for()
    settle_map(page)
    # Each pin has its name, can be reached by Tab, and is in the list.
    for pin in pins.all():
        assert pin.get_attribute("aria-label") or pin.inner_text()
        assert pin.evaluate("pin => pin.tabIndex") >= 0
    assert anna.foreign() == []


def test_web_26_the_map_is_moved_and_zoomed_by_keys_and_mouse(anna):
    things.notes(anna, 1)
    page = anna.open("/notes/map")
    page.locator(".map-pin").first.wait_for()
    # The middle of the map, from 0 at the date line to 1, and how far it is zoomed.
    x, zoom = page.evaluate("(({x, zoom}) => [x, zoom])(document.querySelector('larder-map').view)")
    canvas = page.locator("larder-map .map-surface")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("x => document.querySelector('larder-map').view.x > x", arg=x)
    page.keyboard.press("-")
    page.wait_for_function("zoom => document.querySelector('larder-map').view.zoom < zoom", arg=zoom)
    x = page.evaluate("document.querySelector('larder-map').view.x")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 200, steps=4)
    page.mouse.up()
    page.wait_for_function("x => document.querySelector('larder-map').view.x < x", arg=x)


def test_web_28_a_problem_has_the_words_of_the_server(visitor):
    visitor.open("/notes/login")
    page = visitor.context.pages[0]
    page.get_by_label("User name").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign In").click()
    said = page.get_by_role("alert")
    expect(said).to_contain_text("User name not found.")
    expect(said).to_contain_text("Please check the user name, or sign up.")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Sign In")).to_be_enabled()
    axe.check(page)
    expect(page.get_by_role("textbox", name="User name")).to_have_value("nobody")
    expect(page.get_by_label("Password")).to_have_value("wrong")


def test_web_28_try_again_is_there_where_it_helps(visitor, larder):
    visitor.log_in("notes")
    larder.fault("people", "error(503, 1)")
    page = visitor.open("/notes/people")
    problem = page.locator(".state-problem")
    expect(problem.get_by_role("button", name=re.compile("Try again"))).to_be_visible()
    larder.fault("people", "online")
    expect(page.locator(".rows > li").first).to_be_visible()
    page.goto("/notes/n999")
    expect(problem).to_be_visible()
    expect(problem.get_by_role("button", name=re.compile("Try again"))).to_have_count(0)


def test_note_16_notes_are_saved_as_a_file_and_imported_from_files(anna):
    things.notes(anna, 2)
    page = anna.open("/notes")
    expect(page.locator(".rows > li")).to_have_count(2)
    more = page.get_by_role("button", name="Account and files")
    more.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as GPX").click()
    with open(download.value.path(), encoding="utf-8") as file:
        saved = file.read()
    assert saved.count("<wpt ") == 2 and download.value.suggested_filename.endswith(".gpx")
    more.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("menuitem", name="Import Notes").click()
    point = '<wpt lat="60.17" lon="24.94"><name>Market</name><desc>Fish &amp; bread</desc></wpt>'
    chooser.value.set_files([
        {"name": "notes.gpx", "mimeType": "application/gpx+xml", "buffer": saved.encode()},
        {"name": "more.gpx", "mimeType": "application/gpx+xml", "buffer": f"<gpx>{point}</gpx>".encode()}])
    expect(page.get_by_text("Added: 1. Already there: 2")).to_be_visible()
    expect(page.locator(".rows > li").first).to_contain_text("Fish & bread")
    expect(page.locator(".rows > li").first).to_contain_text("Market")
    more.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("menuitem", name="Import Notes").click()
    chooser.value.set_files([{"name": "bad.gpx", "mimeType": "application/gpx+xml", "buffer": b"<gpx>\n<wpt"}])
    expect(page.get_by_role("alertdialog")).to_contain_text("bad.gpx, line 2")


def test_note_15_a_search_marks_the_passage_of_its_hit(anna):
    things.note(anna, "First line\n" + "and much later " * 9 + "a needle in the hay")
    things.note(anna, "Needle first")
    page = anna.open("/notes")
    page.get_by_role("searchbox", name="Search notes").fill('"needle in" -first-class')
    row = page.locator(".rows > li")
    expect(row).to_have_count(1)
    expect(row.get_by_role("link")).to_have_text("First line")
    expect(row.locator("mark")).to_have_text(["needle", "in"])
    page.get_by_role("searchbox", name="Search notes").fill("needl")
    expect(row).to_have_count(2)
    expect(row.get_by_role("link", name="Needle first").locator("mark")).to_have_text("Needl")
    # A title is the first line; the next one is below it, with its own marks.
    things.note(anna, "A haystack\nand the hay in it")
    page.get_by_role("searchbox", name="Search notes").fill("hay")
    link = page.get_by_role("link", name="A haystack")
    expect(link).to_have_text("A haystack")
    expect(row.filter(has=link).locator(".note-more")).to_have_text(re.compile("^ ?and the hay in it$"))
    expect(row.filter(has=link).locator(".note-more mark")).to_have_text("hay")


def test_web_25_people_of_one_name_are_told_apart_by_their_addresses(anna):
    page = anna.open("/notes/people")
    expect(page.locator(".rows .row-sub").first).to_have_text(re.compile("^[^@ ]+@[^@ ]+$"))
