"""Dictation: what is heard is shown, and why nothing is heard is said."""
import re

import pytest
import things
from playwright.sync_api import expect

# Stands for the speech service of a browser; a test says what it does.
SERVICE = """globalThis.webkitSpeechRecognition = globalThis.SpeechRecognition = class {
    start() { globalThis.speech = this; this.onstart?.(); }
    stop() { this.onend?.(); }
    abort() { this.isAborted = true; this.onerror?.({error: 'aborted'}); this.onend?.(); }
};"""


@pytest.fixture
def dialog(visitor, larder):
    visitor.context.add_init_script(SERVICE)
    page = visitor.open(f"/pdf/{things.document(larder, 1)}")
    page.clock.install()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=re.compile("text", re.I)).click()
    found = page.get_by_role("dialog")
    found.get_by_role("button", name="Dictate").click()
    expect(found.get_by_role("button", name="Stop dictating")).to_be_visible()
    return found


def hear(dialog, words, final):
    dialog.page.evaluate("""([words, final]) => {
        const result = Object.assign([{transcript: words}], {isFinal: final});
        speech.onresult?.({resultIndex: 0, results: [result]});
    }""", [words, final])


def test_web_22_words_are_shown_while_they_are_heard(dialog):
    dialog.page.evaluate("speech.onaudiostart()")
    expect(dialog.locator(".heard")).to_have_text("Listening…")
    hear(dialog, "a dog out", False)
    expect(dialog.locator(".heard")).to_have_text("a dog out")
    expect(dialog.get_by_label("Text")).to_have_value("")
    hear(dialog, "a dog outside", True)
    expect(dialog.get_by_label("Text")).to_have_value("a dog outside")
    dialog.get_by_role("button", name="Stop dictating").click()
    expect(dialog.locator(".heard")).to_have_text("")


@pytest.mark.parametrize("end", ["Add", "Close"])
def test_web_22_nothing_is_heard_after_the_dialog(dialog, end):
    page = dialog.page
    hear(dialog, "a dog outside", True)
    dialog.get_by_role("button", name=end, exact=True).click()
    if end == "Close":
        page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_function("() => speech.isAborted")
    hear(dialog, "and a cat", True)
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('larder.draft.'))") == []


REASONS = {"not-allowed": "may not use the microphone", "audio-capture": "No microphone",
           "no-speech": "Nothing was heard",
           "network": "no service", "service-not-allowed": "no service", "language-not-supported": "no service"}


@pytest.mark.parametrize("error", REASONS)
def test_web_22_it_is_said_why_nothing_is_heard(dialog, error):
    dialog.page.evaluate("error => { speech.onerror({error}); speech.onend(); }", error)
    expect(dialog.get_by_role("status").filter(has_text=REASONS[error])).to_be_visible()
    expect(dialog.get_by_role("button", name="Dictate")).to_be_visible()


def test_web_22_a_service_that_is_silent_is_given_up(dialog):
    dialog.page.clock.run_for(5000)
    expect(dialog.get_by_role("button", name="Stop dictating")).to_be_visible()
    dialog.page.clock.run_for(3000)
    expect(dialog.get_by_role("status").filter(has_text="no service")).to_be_visible()
    expect(dialog.get_by_role("button", name="Dictate")).to_be_visible()
