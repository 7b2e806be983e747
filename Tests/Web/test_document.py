"""The document of the pages and the files that it names, as a browser fetches and keeps them."""
import re

import pytest
from playwright.sync_api import expect
from screens import settle

# What each file of the pages cost: nothing if it came from the browser's own copies.
FILES = """() => performance.getEntriesByType('resource').filter(one => new URL(one.name).pathname.startsWith('/web/'))
    .map(one => [new URL(one.name).pathname, one.transferSize])"""
SHELL = "() => performance.getEntriesByType('navigation')[0].responseStatus"


@pytest.mark.settings(web_directory=None)
def test_web_03_a_second_visit_transfers_the_document_only(visitor):
    """With the files of the program: those of a folder are kept by no browser."""
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    first = dict(page.evaluate(FILES))
    assert len(first) > 15 and all(size > 0 for size in first.values()), first
    digests = {re.match(r"/web/([0-9a-f]{12})/[\w.-]+$", path)[1] for path in first}
    assert len(digests) == 1
    answers = []
    visitor.context.on("response", lambda response: answers.append((response.url, response.status)))
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    settle(page)
    again = dict(page.evaluate(FILES))
    assert again.keys() == first.keys() and set(again.values()) == {0}, again
    assert page.evaluate(SHELL) in (200, 304)
    sizes = page.evaluate("() => { const [{transferSize: sent, encodedBodySize: whole}] = "
                          "performance.getEntriesByType('navigation'); return [sent, whole]; }")
    assert 0 < sizes[0] and sizes[1] > 0, sizes


def test_web_04_without_scripts_a_line_says_so_and_leads_to_the_api(visit, larder):
    visitor = visit(larder, java_script_enabled=False)
    page = visitor.open("/notes")
    expect(page.get_by_role("heading", level=1)).to_have_text("Larder")
    expect(page.locator("noscript p")).to_contain_text("These pages need JavaScript.")
    page.get_by_role("link", name="/v1").click()
    expect(page).to_have_url(f"{larder.url}/v1")
    expect(page.locator("body")).to_contain_text('"data"')
