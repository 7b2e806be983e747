"""Pairing of a browser that is not on the machine of the server, as its host name says."""
import re

import pytest
from axe import check
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
    room.get_by_role("button", name="Pair a device").click()
    room.get_by_role("dialog").get_by_role("button", name="Pair a device").click()
    code = room.locator(".pairing-code")
    expect(code).to_have_text(re.compile("^[0-9A-Z]{4}-[0-9A-Z]{4}$"))
    phone.get_by_label("Code").fill(code.inner_text().lower())
    phone.get_by_role("button", name="Pair").click()
    expect(phone.get_by_role("heading", name="Shop")).to_be_visible()
    assert phone.url == f"{elsewhere}/shop"

    room.keyboard.press("Escape")
    row = room.get_by_role("listitem").filter(has_text="Anna's phone")
    row.get_by_role("button", name="Unpair").click()
    room.get_by_role("alertdialog").get_by_role("button", name="Unpair").click()
    expect(row).to_have_count(0)
    phone.goto(f"{elsewhere}/shop")
    expect(phone.get_by_role("heading", name="Pair this device")).to_be_visible()
