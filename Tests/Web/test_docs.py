"""The contract as a page."""
import re
import subprocess

from playwright.sync_api import expect

from axe import violations


def test_h16_the_contract_is_a_page_with_examples_and_commands_that_run(visitor):
    page = visitor.open("/docs?app=ships")
    expect(page.get_by_role("heading", level=1)).to_have_text("API")
    path = page.locator("summary .code", has_text=re.compile("^/v1/ships$"))
    route = page.locator("details", has=path).filter(has_text="GET").first
    route.locator("summary").click()
    expect(route.locator("pre").first).to_contain_text('"screen": "ships.list"')
    assert not violations(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    route.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    command = page.evaluate("navigator.clipboard.readText()")
    token = visitor.send("POST", "/v1/ships/session", {"mode": "guest"}).json()["data"]["token"]
    shown = subprocess.run(command.replace("TOKEN", token), shell=True, capture_output=True, text=True, check=True)
    assert '"screen":"ships.list"' in shown.stdout, command


def test_h16_lists_and_code_of_the_contract_are_drawn(visitor):
    page = visitor.open("/docs?app=notes")
    page.get_by_role("searchbox").fill("openNotesSession")
    route = page.locator("details").first
    expect(route.locator(".method-post")).to_have_text("POST")
    route.locator("summary").click()
    expect(route.locator(".points li code").first).to_be_visible()
    assert not [text for text in route.locator("p, li").all_inner_texts() if text.startswith("- ") or "`" in text]


def test_h16_it_is_searched_by_words_and_shows_one_app(visitor):
    page = visitor.open("/docs")
    page.get_by_role("searchbox").fill("post session")
    expect(page.locator("details").first).to_contain_text("/session")
    expect(page.locator("details", has_text="GET")).to_have_count(0)
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Shop").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(["Shop"])
    page.get_by_role("searchbox").fill("no such words")
    expect(page.get_by_text("No such route.")).to_be_visible()


def test_h16_every_route_opens_and_fits_a_phone(visit, larder):
    page = visit(larder, width=320).open("/docs")
    page.locator("details").first.wait_for()
    count = page.evaluate("""() => {
        const all = [...document.querySelectorAll('details')];
        for (const one of all) one.open = true;
        return all.length;
    }""")
    assert count > 150
    expect(page.get_by_role("button", name="Copy as curl")).to_have_count(count)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
