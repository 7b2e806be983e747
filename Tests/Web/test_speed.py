"""How soon a screen shows its list. What a test can hold on any machine is how much is asked for until then, and that
nothing waits for what it does not need; the time itself is printed at the end of the run."""
import statistics

import pytest

# Notes when the first thing of a list is drawn, in milliseconds since the navigation.
FIRST = """new MutationObserver((_, observer) => {
    if (!document.querySelector('#main .rows > li, #main .product')) return;
    observer.disconnect();
    requestAnimationFrame(() => { globalThis.firstList = performance.now(); });
}).observe(document, {subtree: true, childList: true});"""
ASKED = """() => performance.getEntriesByType('resource').filter(one => one.startTime < firstList)
    .map(one => new URL(one.name).pathname)"""


@pytest.mark.parametrize("path, screen", [
    ("/ships", "/v1/ships"), ("/shop", "/v1/shop/search"), ("/disk/files", "/v1/disk/files"),
])
def test_web_34_the_first_list_needs_little(visit, larder, figures, path, screen):
    person = visit(larder)
    person.log_in("ships", "disk")
    # Each visit is one of a browser that was never here; the server knows the content.
    person.send("GET", screen)
    cookies, times = person.context.cookies(), []
    for _ in range(5):
        visitor = visit(larder)
        visitor.context.add_cookies(cookies)
        visitor.context.add_init_script(FIRST)
        page = visitor.open(path)
        page.wait_for_function("() => globalThis.firstList > 0")
        asked = page.evaluate(ASKED)
        times.append(page.evaluate("firstList"))
        visitor.context.close()
        screens = {one for one in asked if one.startswith("/v1/") and "/image" not in one}
        assert screen in screens and len(screens) <= 4, screens
        files = [one for one in asked if one.startswith("/web/")]
        assert len(files) == len(set(files)) <= 30, files
    figures(f"{path}: first list after {statistics.median(times):.0f} ms (median of 5)")
