"""What is typed and not saved is there again after a reload, in another language, and in another tab."""
import re

import pytest
import things
from engines import until
from playwright.sync_api import expect

TEXT = "Half a thought\nand ещё одна"


@pytest.fixture
def anna(visitor):
    visitor.log_in("notes")
    return visitor


def kept(page, count=1):
    """Waits until the browser has stored what is typed."""
    page.wait_for_function("""count => Object.keys(localStorage).filter(key => key.startsWith('larder.draft.')).length
        === count""", arg=count)


def write(page, text=TEXT, count=1):
    page.get_by_label("Text").fill(text)
    kept(page, count)


def test_web_35_a_new_note_is_there_after_a_reload_and_in_another_language(anna):
    page = anna.open("/notes/new")
    write(page)
    page.get_by_role("combobox", name="Place").fill("Helsin")
    page.get_by_role("option", name=re.compile("Helsinki")).first.click()
    page.reload()
    expect(page.get_by_label("Text")).to_have_value(TEXT)
    expect(page.get_by_role("combobox", name="Place")).to_have_value(re.compile("Helsinki"))
    expect(page.get_by_text("Your text is here again. It is not saved yet.")).to_be_visible()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("menuitemradio", name="Русский").click()
    expect(page.get_by_label("Текст")).to_have_value(TEXT)
    page.get_by_role("button", name="Сохранить", exact=True).click()
    expect(page.locator("h1")).to_have_text("Half a thought")
    kept(page, 0)
    stored, = anna.send("GET", "/v1/notes").json()["data"]["items"]
    assert "Helsinki" in stored["location"]["name"]


def test_web_35_a_note_of_a_closed_tab_is_offered_in_the_list(anna):
    page = anna.open("/notes/new")
    write(page)
    page.close()
    other = anna.open("/notes")
    other.get_by_role("link", name="A note that you began is not saved yet").click()
    expect(other.get_by_label("Text")).to_have_value(TEXT)
    other.get_by_role("button", name="Discard").click()
    expect(other.get_by_label("Text")).to_have_value("")
    kept(other, 0)
    other.goto("/notes")
    other.get_by_role("link", name="New note").wait_for()
    expect(other.get_by_role("link", name="A note that you began is not saved yet")).to_have_count(0)


def test_web_35_a_change_of_a_note_is_there_again_and_asks_if_it_was_changed_elsewhere(anna):
    note = things.note(anna, "First text")
    page = anna.open(f"/notes/{note}")
    page.get_by_role("button", name="Edit").click()
    write(page)
    page.close()
    anna.send("PATCH", f"/v1/notes/{note}", {"body": "Theirs"})
    other = anna.open(f"/notes/{note}")
    expect(other.get_by_text("You changed this note and did not save it.")).to_be_visible()
    other.get_by_role("button", name="Go on editing").click()
    expect(other.get_by_label("Text")).to_have_value(TEXT)
    other.get_by_role("button", name="Save", exact=True).click()
    race = other.get_by_role("dialog")
    expect(race).to_contain_text("Theirs")
    race.get_by_role("button", name="Save mine").click()
    expect(other.locator("h1")).to_have_text("Half a thought")
    kept(other, 0)


def test_web_35_what_is_left_on_purpose_is_gone(anna):
    page = anna.open("/notes/new")
    write(page)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    page.get_by_role("link", name="New note").wait_for()
    kept(page, 0)


def test_web_06_a_draft_is_of_its_account_and_ends_with_a_logout(anna):
    page = anna.open("/notes/new")
    write(page)
    # The session ends elsewhere, and somebody else logs in.
    anna.send("DELETE", "/v1/notes/session")
    page.close()
    anna.log_in(notes={"mode": "register", "username": "anna.b", "password": "correct horse"})
    other = anna.open("/notes")
    other.get_by_role("link", name=re.compile("New note|Create Note")).first.wait_for()
    other.goto("/notes/new")
    expect(other.get_by_label("Text")).to_have_value("")
    write(other, "Another's", 2)
    other.goto("/notes/people")
    log_out = other.get_by_role("menuitem", name="Log out")
    other.get_by_role("button", name="Account and files").click()
    log_out.click()
    other.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    kept(other, 2)
    other.get_by_role("button", name="Account and files").click()
    log_out.click()
    other.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    other.get_by_role("textbox", name="User name").wait_for()
    # That of the other account is not this one's.
    kept(other, 1)


def test_web_35_two_tabs_do_not_take_each_others_text(anna):
    page = anna.open("/notes/new")
    write(page, "One")
    is_safe = "() => dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    assert page.evaluate(is_safe)
    other = anna.open("/notes/new")
    expect(other.get_by_label("Text")).to_have_value("One")
    write(other, "Two")
    # The browser keeps the text of the other tab now.
    page.wait_for_function(f"() => !({is_safe})()")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("h1")).to_have_text("One")
    kept(other, 1)
    other.reload()
    expect(other.get_by_label("Text")).to_have_value("Two")


def test_web_35_an_earlier_text_is_offered_to_who_types_before_it_is_found(anna):
    page = anna.open("/notes/new")
    write(page, "Earlier")
    page.close()
    other = anna.open("/notes")
    other.get_by_role("link", name="A note that you began is not saved yet").wait_for()
    held = []
    other.route("**/v1/notes/session", lambda route: held.append(route), times=1)
    other.get_by_role("link", name="A note that you began is not saved yet").click()
    other.get_by_label("Text").fill("Now")
    until(lambda: other.evaluate("1") and held, "the account to be asked for")
    for route in held:
        route.continue_()
    other.get_by_role("button", name="Bring back").click()
    expect(other.get_by_label("Text")).to_have_value("Earlier\nNow")
    kept(other, 1)


def test_web_35_what_is_typed_while_larder_is_away_is_kept(anna, larder):
    page = anna.open(f"/notes/{things.note(anna, 'First text')}")
    for text in ["While it answers", "While it is away"]:
        page.get_by_role("button", name="Edit").click()
        write(page, text)
        if text == "While it answers":
            page.get_by_role("button", name="Cancel").click()
            page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
            kept(page, 0)
            larder.stop()


def test_web_35_a_draft_of_a_note_is_none_of_another_with_its_address(anna):
    note = things.note(anna, "First text")
    page = anna.open(f"/notes/{note}")
    page.get_by_role("button", name="Edit").click()
    write(page)
    page.evaluate("""() => {
        const [key] = Object.keys(localStorage).filter(key => key.startsWith('larder.draft.'));
        const kept = JSON.parse(localStorage[key]);
        kept.value.made = '2020-01-01T00:00:00Z';
        localStorage[key] = JSON.stringify(kept);
    }""")
    page.close()
    other = anna.open(f"/notes/{note}?edit=1")
    expect(other.get_by_label("Text")).to_have_value("First text")


def test_web_35_a_text_for_a_document_is_there_after_a_reload(visitor, larder):
    page = visitor.open(f"/pdf/{things.document(larder, 1)}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=re.compile("text", re.I)).click()
    box = page.get_by_role("dialog").get_by_label("Text")
    box.fill(TEXT)
    page.reload()
    expect(box).to_have_value(TEXT)
    # It is asked about before it is thrown away.
    page.keyboard.press("Escape")
    page.get_by_role("alertdialog").get_by_role("button", name="Go on editing").click()
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("img", name="Page 2")).to_be_visible()
    kept(page, 0)
