"""Screens that stay where they are while they load, are small, and hold large text in both languages."""
import layout
import pytest
from screens import SCREENS, furnish, settle
from test_screens import check

# Adds up what moves by itself (Layout Instability API).
SHIFT = """globalThis.shift = 0;
globalThis.moved = [];
new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        shift += entry.value;
        if (entry.value > 0.01) moved.push(...entry.sources.map(one => one.node?.outerHTML?.slice(0, 90)));
    }
}).observe({type: 'layout-shift', buffered: true});"""
# A first visit to a screen may take so many bytes, in a window of a desktop.
FIRST = {"/shop?q=": 150, "/ships": 200}


@pytest.mark.parametrize("width, height", [(390, 844), (1280, 800)])
def test_web_44_nothing_moves_while_a_screen_loads(visit, larder, figures, width, height):
    visitor = visit(larder, width=width, height=height)
    visitor.context.add_init_script(SHIFT)
    furnished = furnish(visitor)
    wrong, most = [], (0, "")
    for screen in SCREENS:
        page = screen.open(visitor, furnished)
        shift, moved = page.evaluate("[shift, moved]")
        most = max(most, (shift, screen.name))
        if shift > 0.1:
            wrong.append(f"{screen.name}: {shift:.2f} by {moved[:3]}")
        page.close()
    figures(f"largest layout shift at {width} px: {most[0]:.3f} ({most[1]})")
    check(wrong)


@pytest.mark.parametrize("path", FIRST)
def test_web_43_pictures_are_as_large_as_they_are_shown(visit, larder, figures, path):
    visitor = visit(larder)
    visitor.log_in("ships")
    page = visitor.context.new_page()
    client = visitor.context.new_cdp_session(page)
    client.send("Network.enable")
    sizes = []
    client.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(path)
    page.locator("#main img.seen").first.wait_for()
    settle(page)
    page.wait_for_function("() => [...document.images].every(image => image.complete)")
    kilobytes = sum(sizes) / 1024
    figures(f"{path}: {kilobytes:.0f} KB for a first screen")
    assert kilobytes <= FIRST[path]
    blurred = page.evaluate("""() => [...document.querySelectorAll('#main img.seen')]
        .filter(image => image.naturalWidth < image.clientWidth * 0.9).map(image => image.currentSrc)""")
    assert blurred == []


@pytest.mark.parametrize("locale", ["en-GB", "ru-RU"])
def test_web_42_large_text_and_small_windows_hide_nothing(visit, larder, locale):
    visitor = visit(larder, width=320, height=640, locale=locale)
    furnished = furnish(visitor)
    wrong = []
    for screen in SCREENS:
        page = screen.open(visitor, furnished)
        wrong += [f"{screen.name}: 320 px: {one}" for one in layout.cut(page) + layout.covered(page)]
        # 400 % of a window of 1280 × 1024 (WCAG 1.4.10).
        page.set_viewport_size({"width": 320, "height": 256})
        # A map is moved to what its buttons cover.
        wrong += [f"{screen.name}: 320 × 256 px: {one}" for one in layout.covered(page) if 'class="map-pin"' not in one]
        layout.enlarge_text(page, 200)
        for width in [390, 1280]:
            page.set_viewport_size({"width": width, "height": 800})
            wrong += [f"{screen.name}: {width} px, large text: {one}"
                      for one in layout.wider(page) + layout.covered(page)]
        page.close()
    check(wrong)
