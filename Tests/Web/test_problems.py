"""Every problem of the contract, on a screen, in a dialog and in a form."""
import re

import pytest
from playwright.sync_api import expect
from problems import ENDED, PROBLEMS, codes, examples

AGAIN = {"en": "Try again", "ru": "Повторить"}
LOCALES = {"en": "en-GB", "ru": "ru-RU"}
# Follows a link to an address, as if the page had one.
FOLLOW = """href => {
    const link = document.createElement('a');
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
}"""


def test_web_28_the_contract_has_an_example_of_each_code():
    assert set(codes()) == set(examples())
    assert {problem.retryable for problem in PROBLEMS.values()} == {True, False}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_web_28_each_code_has_its_words_on_a_screen(visit, larder, language):
    visitor = visit(larder, locale=LOCALES[language])
    page = visitor.open("/shop/list")
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        shown.respond(route, language)

    page.route(re.compile(r"/v1/shop/products/\d+(\?.*)?$"), refuse)
    for number, shown in enumerate(PROBLEMS.values(), start=5000):
        page.evaluate(FOLLOW, f"/shop/{number}")
        view = page.locator(f".state-problem[data-code={shown.code}]")
        expect(view).to_contain_text(shown.message(language))
        expect(view.locator("h2")).to_have_text(shown.title)
        again = view.get_by_role("button", name=AGAIN[language])
        expect(again).to_have_count(1 if shown.retryable else 0)
        if shown.retryable:
            before = len(asked)
            with page.expect_response(re.compile(f"/v1/shop/products/{number}")):
                again.click()
            assert len(asked) > before
            expect(view).to_contain_text(shown.message(language))


def test_web_28_each_code_has_its_words_in_a_dialog(visit, larder):
    visitor = visit(larder, locale=LOCALES["ru"])
    visitor.log_in("disk")
    page = visitor.open("/disk/trash")
    asked = []

    def refuse(route):
        asked.append(route.request.method)
        shown.respond(route, "ru")

    page.route("**/v1/disk/trash/restore", refuse)
    rows = page.locator(".rows > li")
    rows.first.wait_for()
    count = rows.count()
    dialog = page.locator("dialog[role=alertdialog]:not(.answered)")
    for shown in PROBLEMS.values():
        rows.first.get_by_role("button").first.click()
        expect(dialog).to_contain_text(shown.message("ru"))
        expect(dialog).to_contain_text(f"{shown.status} · {shown.code}")
        expect(dialog.get_by_role("link", name="Войти")).to_have_count(1 if shown.code in ENDED else 0)
        again = dialog.get_by_role("button", name=AGAIN["ru"])
        expect(again).to_have_count(1 if shown.retryable else 0)
        if shown.retryable:
            before = len(asked)
            dialog.evaluate("""dialog => dialog.addEventListener('click', () => dialog.classList.add('answered'))""")
            with page.expect_response("**/v1/disk/trash/restore"):
                again.click()
            assert len(asked) == before + 1
            expect(dialog).to_contain_text(shown.message("ru"))
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(rows).to_have_count(count)


def test_web_28_each_code_has_its_words_in_a_form_which_keeps_what_is_typed(visitor, larder):
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    asked = []

    def refuse(route):
        asked.append(route.request.post_data)
        shown.respond(route)

    page.route("**/v1/disk/folders", refuse)
    page.get_by_role("button", name="New folder").click()
    form = page.get_by_role("dialog")
    name = form.get_by_role("textbox", name="Name")
    name.fill("Typed once")
    for shown in PROBLEMS.values():
        form.get_by_role("button", name="Create").click()
        said = form.locator(".form-problem")
        expect(said).to_contain_text(shown.message())
        expect(said.get_by_role("link", name="Log in")).to_have_count(1 if shown.code in ENDED else 0)
        again = said.get_by_role("button", name=AGAIN["en"])
        expect(again).to_have_count(1 if shown.retryable else 0)
        if shown.retryable:
            before = len(asked)
            with page.expect_response("**/v1/disk/folders"):
                again.click()
            assert asked[before:] == asked[:1]
            expect(said).to_contain_text(shown.message())
        expect(name).to_have_value("Typed once")
    page.unroute("**/v1/disk/folders")
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("link", name="Typed once")).to_be_visible()


@pytest.mark.parametrize("code", ["overloaded", "rate-limited"])
def test_web_28_a_pause_is_counted_down_in_dialogs_and_forms(visitor, larder, code):
    visitor.log_in("disk")

    def refuse(route):
        PROBLEMS[code].respond(route, **{"Retry-After": "90"})

    page = visitor.open("/disk/trash")
    page.route("**/v1/disk/trash/restore", refuse)
    page.locator(".rows > li").first.get_by_role("button").first.click()
    waits = re.compile(r"Try again in [3-9]\d s")
    expect(page.get_by_role("alertdialog").get_by_role("button", name=waits)).to_be_disabled()
    page.goto("/disk/files")
    page.route("**/v1/disk/folders", refuse)
    page.get_by_role("button", name="New folder").click()
    page.get_by_role("textbox", name="Name").fill("Later")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog").get_by_role("button", name=waits)).to_be_disabled()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Later")


@pytest.mark.parametrize("code", ENDED)
def test_web_28_a_session_that_has_ended_leads_to_the_login_with_a_word_why(visitor, larder, code):
    visitor.log_in("disk")
    page = visitor.open("/disk/published")
    page.route("**/v1/disk/trash", lambda route: PROBLEMS[code].respond(route))
    page.evaluate(FOLLOW, "/disk/trash")
    page.wait_for_url("**/disk/login?*")
    page.get_by_role("button", name="LOG IN", exact=True).wait_for()
    # Who was never logged in needs no reason.
    expect(page.get_by_text(PROBLEMS[code].message())).to_have_count(0 if code == "session-required" else 1)
