"""Pairing of a browser that is not on the machine of the server, as its host name says."""
import re

import pytest
from axe import check
from larder import send
from playwright.sync_api import expect


@pytest.fixture
def page_of(browser):
    """Opens pages of browsers of their own, some of which are refused at first."""
    contexts = []

    def page_of(url):
        contexts.append(browser.new_context(locale="en-GB"))
        page = contexts[-1].new_page()
        page.goto(url)
        return page

    yield page_of
    for context in contexts:
        context.close()


def with_picture(route):
    """Adds the QR code that a server has only under a name that others can reach."""
    answer = route.fetch()
    answer_json = answer.json()
    answer_json["data"]["qr"] = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'/>"
    route.fulfill(response=answer, json=answer_json)


def test_srv_17_a_browser_is_paired_by_a_code_of_the_control_room_and_unpaired_there(start, page_of):
    larder = start(http_access="pairing", http_allowed_hosts="phone.localhost")
    elsewhere = larder.url.replace("127.0.0.1", "phone.localhost")
    phone = page_of(f"{elsewhere}/shop")
    expect(phone.get_by_role("heading", name="Pair this device")).to_be_visible()
    check(phone)
    phone.get_by_label("Code").fill("0000-0000")
    phone.get_by_label("Name of this device").fill("Anna's phone")
    phone.get_by_role("button", name="Pair").click()
    expect(phone.get_by_role("alert")).to_contain_text("This is not the code")

    room = page_of(f"{larder.url}/status")
    room.route("**/v1/pairing/code", with_picture)
    room.get_by_role("button", name="Pair a device").click()
    room.get_by_role("dialog").get_by_role("button", name="Pair a device").click()
    code = room.locator(".pairing-code")
    expect(code).to_have_text(re.compile("^[0-9A-Z]{4}-[0-9A-Z]{4}$"))
    picture = room.get_by_role("img", name="QR")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    phone.get_by_label("Code").fill(code.inner_text().lower())
    phone.get_by_role("button", name="Pair").click()
    expect(phone.get_by_role("heading", name="Shop")).to_be_visible()
    assert phone.url == f"{elsewhere}/shop"

    room.keyboard.press("Escape")
    row = room.get_by_role("listitem").filter(has_text="Anna's phone")
    # Without the space for their titles, buttons show their icons.
    assert row.get_by_role("button").evaluate_all("buttons => buttons.every(button => button.querySelector('svg'))")
    row.get_by_role("button", name="Unpair").click()
    room.get_by_role("alertdialog").get_by_role("button", name="Unpair").click()
    expect(row).to_have_count(0)
    phone.goto(f"{elsewhere}/shop")
    expect(phone.get_by_role("heading", name="Pair this device")).to_be_visible()


def test_srv_17_the_address_of_a_qr_code_brings_the_code_with_it(start, page_of):
    larder = start(http_access="pairing", http_allowed_hosts="phone.localhost")
    elsewhere = larder.url.replace("127.0.0.1", "phone.localhost")
    code = send("POST", f"{larder.url}/v1/pairing/code", {})["data"]["code"]
    phone = page_of(f"{elsewhere}/pair#{code}")
    expect(phone.get_by_label("Code")).to_have_value(code)
    expect(phone.get_by_role("button", name="Pair")).to_be_focused()
    phone.get_by_role("button", name="Pair").click()
    expect(phone).to_have_url(f"{elsewhere}/")
    other = page_of(f"{elsewhere}/ships#details")
    expect(other.get_by_label("Code")).to_have_value("")
