"""Nothing that is typed is lost by an error, an offline moment, a lost race or the end of a session."""
import re

import pytest
import things
from playwright.sync_api import expect
from problems import PROBLEMS

FAILURES = ["internal", "precondition-failed", "storage-full", "session-expired", "connectionrefused", "timedout"]


class Form:
    """A form that is filled: the request that it makes, its button, its fields with what was typed."""

    def __init__(self, page, method, address, button, fields, over=False):
        self.page, self.method, self.address, self.button, self.fields = page, method, address, button, fields
        # Whether a failure is shown in a dialog above it, else in the form.
        self.over = over

    def fail(self, failure):
        def respond(route):
            if route.request.method != self.method:
                route.fallback()
            elif failure in PROBLEMS:
                PROBLEMS[failure].respond(route)
            else:
                route.abort(failure)

        self.page.route(self.address, respond)
        self.button.click()
        if self.over:
            above = self.page.locator("dialog[open]").last
            expect(above).to_contain_text(re.compile(r"\w{3}"))
            self.page.keyboard.press("Escape")
            expect(self.page.locator("dialog[open]")).to_have_count(0)
        else:
            expect(self.page.locator(".form-problem")).to_contain_text(re.compile(r"\w{3}"))
        self.page.unroute(self.address)
        self.still()

    def still(self):
        for field, value in self.fields:
            expect(field).to_have_value(value)

    def send(self):
        def own(response):
            return response.request.method == self.method and self.address.search(response.url)

        with self.page.expect_response(own) as response:
            self.button.click()
        assert response.value.ok, response.value.text()


def in_dialog(page, method, address, button, **values):
    dialog = page.get_by_role("dialog")
    fields = [(dialog.get_by_label(label, exact=True), value) for label, value in values.items()]
    for field, value in fields:
        field.fill(value)
    return Form(page, method, re.compile(address), dialog.get_by_role("button", name=button, exact=True), fields)


def new_folder(visitor):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.get_by_role("button", name="New folder").click()
    return in_dialog(page, "POST", r"/v1/disk/folders$", "Create", Name="Typed Ж 🐕")


def file_name(visitor):
    visitor.log_in("disk")
    visitor.larder.control("PUT", "/yandex_disk/files", {"path": "disk:/New/old.txt", "text": "text"})
    page = visitor.open("/disk/file?path=disk%3A%2FNew%2Fold.txt")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Rename").click()
    return in_dialog(page, "PATCH", r"/v1/disk/file\?", "Rename", Name="Typed Ж 🐕")


def draft_name(visitor):
    page = visitor.open(f"/pdf/{things.document(visitor.larder, 1, save=False)}")
    page.get_by_role("button", name="Save").click()
    return in_dialog(page, "POST", r"/v1/pdf/documents/\w+/save$", "Save", Name="Typed Ж 🐕")


def document_name(visitor):
    page = visitor.open(f"/pdf/{things.document(visitor.larder, 1)}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name="Rename").click()
    return in_dialog(page, "PATCH", r"/v1/pdf/documents/\w+$", "Rename", Name="Typed Ж 🐕")


def text_of_a_page(visitor):
    page = visitor.open(f"/pdf/{things.document(visitor.larder, 1)}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=re.compile("text", re.I)).click()
    return in_dialog(page, "POST", r"/v1/pdf/documents/\w+/pages", "Add", Text="Typed Ж\nin two lines")


def pages_of_a_document(visitor):
    page = visitor.open(f"/pdf/{things.document(visitor.larder, 2)}")
    page.get_by_role("button", name="Arrange pages").click()
    page.get_by_role("checkbox", name="Select page 1").check()
    page.get_by_role("button", name="Make a document of them").click()
    form = in_dialog(page, "POST", r"/v1/pdf/documents/\w+/extract$", "", Name="Typed Ж 🐕")
    form.button = page.get_by_role("dialog").locator("button[type=submit]")
    return form


def disk_login(visitor):
    visitor.send("PUT", "/v1/disk/onboarding", {"seen": True})
    page = visitor.open("/disk/login")
    field = page.get_by_label("Access token of Yandex Disk")
    field.fill("sandbox-token")
    button = page.get_by_role("button", name="LOG IN", exact=True)
    return Form(page, "POST", re.compile(r"/v1/disk/session$"), button, [(field, "sandbox-token")])


def ships_login(visitor):
    page = visitor.open("/ships/login")
    fields = [(page.get_by_label("E-mail"), "anna@example.com"), (page.get_by_label("Password"), "typed")]
    for field, value in fields:
        field.fill(value)
    button = page.get_by_role("button", name="Log in", exact=True)
    return Form(page, "POST", re.compile(r"/v1/ships/session$"), button, fields)


def notes_login(visitor):
    page = visitor.open("/notes/login")
    page.get_by_role("button", name="Sign Up").click()
    fields = [(page.get_by_role("textbox", name="User name"), "anna"), (page.get_by_label("Password"), "correct horse")]
    for field, value in fields:
        field.fill(value)
    button = page.get_by_role("button", name="Sign Up", exact=True)
    return Form(page, "POST", re.compile(r"/v1/notes/session$"), button, fields)


def note_form(page, method, address):
    fields = [(page.get_by_label("Text"), "Typed Ж 🐕\nin two lines"), (page.get_by_label("Place"), "Helsinki")]
    fields[0][0].fill(fields[0][1])
    page.get_by_role("combobox", name="Place").fill("Helsin")
    page.get_by_role("option", name=re.compile("^Helsinki")).first.click()
    button = page.get_by_role("button", name="Save", exact=True)
    fields[1] = (page.get_by_role("combobox", name="Place"), re.compile("Helsinki"))
    return Form(page, method, re.compile(address), button, fields, over=True)


def new_note(visitor):
    visitor.log_in("notes")
    return note_form(visitor.open("/notes/new"), "POST", r"/v1/notes\?")


def old_note(visitor):
    visitor.log_in("notes")
    page = visitor.open(f"/notes/{things.note(visitor, 'Old text')}")
    page.get_by_role("button", name="Edit").click()
    return note_form(page, "PATCH", r"/v1/notes/\w+\?")


FORMS = [new_folder, file_name, draft_name, document_name, text_of_a_page, pages_of_a_document, disk_login, ships_login,
         notes_login, new_note, old_note]


@pytest.mark.parametrize("fill", FORMS, ids=lambda fill: fill.__name__)
def test_web_28_no_failure_takes_what_is_typed(visitor, fill):
    form = fill(visitor)
    for failure in FAILURES:
        form.fail(failure)
    form.send()


def test_web_28_a_session_that_ends_leaves_a_form_which_is_sent_after_the_next_login(visitor, larder):
    form = new_folder(visitor)
    page = form.page
    visitor.send("DELETE", "/v1/disk/session?confirm=true")
    form.button.click()
    login = page.locator(".form-problem").get_by_role("link", name="Log in")
    login.wait_for()
    form.still()
    with visitor.context.expect_page() as opened:
        login.click()
    opened.value.get_by_role("button", name="Log in as anna").click()
    opened.value.get_by_role("heading", name="Recent").wait_for()
    form.still()
    form.send()
    expect(page.get_by_role("link", name="Typed Ж 🐕")).to_be_visible()


def test_web_12_a_form_in_a_dialog_is_sent_once_larder_is_back(visitor, larder):
    form = new_folder(visitor)
    larder.stop()
    expect(form.page.get_by_text("Larder does not answer").first).to_be_attached()
    expect(form.button).to_be_disabled()
    form.still()
    larder.start()
    expect(form.button).to_be_enabled()
    form.still()
    form.send()


def test_web_19_filters_and_words_stay_when_the_catalogue_fails(visitor, larder):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    larder.fault("catalogue", "offline")
    page.get_by_role("combobox", name="Search").fill("длинные слова 🐕")
    page.keyboard.press("Enter")
    expect(page.locator(".state").or_(page.locator(".banner")).first).to_be_visible()
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Price from").fill("12")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("button", name="Without: from 12$")).to_be_visible()
    expect(page.get_by_role("combobox", name="Search")).to_have_value("длинные слова 🐕")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_label("Price from")).to_have_value("12")
