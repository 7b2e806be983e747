"""What is said of where a screen is from: a sign while all is well, else one line, in the same words everywhere."""
import re

import pytest
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}


def is_on_top(page, selector):
    """Tells whether one sees an element: nothing else lies where its middle is."""
    return page.locator(selector).evaluate("""element => {
        const {x, y, width, height} = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    }""")


@pytest.mark.parametrize("locale, said", [("en-GB", "Live, just now"), ("ru-RU", "Из сети, только что")])
@pytest.mark.parametrize("width", [390, 1280])
def test_web_44_a_screen_that_is_current_has_a_sign_beside_its_heading(visit, larder, width, locale, said):
    visitor = visit(larder, width=width, locale=locale)
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.locator(".rows > li").first.wait_for()
    page.locator("[data-key=refresh]").click()
    chip = page.get_by_role("button", name=said)
    expect(chip).to_be_visible()
    # Its words are for those who ask.
    assert chip.inner_text().strip() == ""
    heading, box = page.locator("h1").bounding_box(), chip.bounding_box()
    assert abs((box["y"] + box["height"] / 2) - (heading["y"] + heading["height"] / 2)) < 12 and box["width"] <= 36
    (chip.tap if width < 700 else chip.click)()
    expect(page.locator(".popup")).to_contain_text("Last confirmed" if locale == "en-GB" else "Подтверждено")
    page.keyboard.press("Escape")
    expect(page.locator(".popup")).to_have_count(0)
    expect(chip).to_be_focused()


@pytest.mark.parametrize("locale, said", [("en-GB", "Offline copy"), ("ru-RU", "Копия без сети")])
def test_web_44_all_apps_say_offline_in_one_line_and_in_the_same_words(visit, larder, locale, said):
    visitor = visit(larder, locale=locale, **PHONE)
    visitor.log_in("disk", "ships", "notes")
    paths = ["/disk/files", "/disk/recent", "/shop?q=", "/ships", "/notes/people"]
    for path in paths:
        page = visitor.open(path)
        page.locator(".rows > li, .product").first.wait_for()
        page.close()
    for upstream in larder.control("GET", "")["upstreams"]:
        larder.fault(upstream["name"], "offline")
    for path in paths:
        page = visitor.open(path)
        chip = page.locator(".chip[data-kind=offline]")
        expect(chip).to_have_text(re.compile(f"^{said}"))
        assert chip.bounding_box()["height"] < 32, path
        # The sentence of the server lies above the bottom bar, so that no row moves when it comes.
        seen, bar = page.locator(".banner").bounding_box(), page.locator(".nav").bounding_box()
        assert seen["width"] == PHONE["width"] and seen["height"] <= 52, path
        assert seen["y"] + seen["height"] == pytest.approx(bar["y"], abs=1) and is_on_top(page, ".banner"), path
        assert "UTC" not in page.locator("body").inner_text()
        if path.startswith("/disk"):
            assert page.locator(".rows > li").first.bounding_box()["y"] < 330, path
        page.close()


def test_web_44_a_file_without_a_copy_offers_no_download_while_its_service_is_away(visit, larder):
    visitor = visit(larder, **PHONE)
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.get_by_role("link", name="Прочти меня.txt").click()
    download = page.get_by_role("link", name="Download")
    expect(download).to_be_visible()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="Отчёт за год.pdf").wait_for()
    larder.fault("yandex_disk", "offline")
    page.get_by_role("link", name="Отчёт за год.pdf").click()
    page.locator(".state-problem").wait_for()
    expect(page.locator(".chip[data-kind=offline]")).to_be_visible()
    expect(download).to_have_count(0)
    larder.fault("yandex_disk", "online")
    expect(download).to_be_visible()


def test_web_17_small_files_have_their_bytes_and_dates_are_those_of_the_browser(visitor):
    visitor.log_in("disk")
    text = {"Content-Type": "text/plain"}
    for name, content in [("empty.txt", b""), ("small.txt", b"x" * 81), ("large.txt", b"x" * 2048)]:
        visitor.send("PUT", f"/v1/disk/file/content?path=disk%3A%2F{name}", content, **text)
    page = visitor.open("/disk/files")
    for name, size in [("empty.txt", "0 B"), ("small.txt", "81 B"), ("large.txt", "2.00 KB")]:
        row = page.locator(".rows > li").filter(has_text=name)
        expect(row.locator(".fact-size")).to_have_text(size.replace(" ", "\u00a0"))
        expect(row.locator(".fact-date")).to_have_text(re.compile(r"^\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d$"))


def test_web_10_every_problem_has_a_way_out_no_tools_for_nothing_and_its_code_folded(visitor, larder):
    visitor.log_in("disk")
    larder.fault("yandex_disk", "error(503)")
    larder.fault("catalogue", "error(503)")
    for path, app in [("/disk/files?path=disk%3A%2FMusic", "Disk"), ("/shop/1", "Shop")]:
        page = visitor.open(path)
        state = page.locator(".state-problem")
        expect(state.get_by_role("link", name=app, exact=True)).to_be_visible()
        expect(state.get_by_role("button", name="Try again")).to_be_visible()
        expect(page.get_by_role("button", name="Select")).to_have_count(0)
        code = state.locator("details.code")
        expect(code).to_have_js_property("open", False)
        state.get_by_text("Details").click()
        expect(code).to_have_js_property("open", True)
        expect(code).to_contain_text("503 · ")
        state.get_by_role("link", name=app, exact=True).click()
        expect(page).to_have_url(re.compile(f"/{app.lower()}(/onboarding)?$"))


def test_web_10_a_ship_that_is_not_there_is_closed(visit, larder):
    visitor = visit(larder, **PHONE)
    visitor.log_in("ships")
    page = visitor.open("/ships/nothing")
    dialog = page.get_by_role("dialog")
    dialog.locator(".state-problem").wait_for()
    dialog.get_by_role("button", name="Close").tap()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(re.compile("/ships$"))


@pytest.mark.parametrize("locale, words", [("en-GB", "You were logged out. Please log in again."),
                                           ("ru-RU", "Сеанс завершён. Войдите снова.")])
def test_web_28_who_was_logged_out_elsewhere_reads_no_word_of_tokens(visit, larder, locale, words):
    visitor = visit(larder, locale=locale)
    visitor.log_in("notes")
    page = visitor.open("/notes")
    page.locator(".state").wait_for()
    cookies = visitor.context.cookies()
    visitor.send("DELETE", "/v1/notes/session")
    visitor.context.add_cookies(cookies)
    page = visitor.open("/notes")
    expect(page).to_have_url(re.compile("/notes/login"))
    expect(page.get_by_text(words)).to_be_visible()
    expect(page.get_by_text(re.compile("token|токен", re.I))).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_disk_01_the_pictures_of_the_onboarding_have_the_ground_of_the_page(visit, larder, scheme):
    page = visit(larder, scheme=scheme, **PHONE).open("/disk/onboarding")
    for at in range(3):
        picture = page.locator(".onboarding-image")
        expect(picture).to_have_js_property("complete", True)
        alpha = picture.evaluate("""image => {
            const canvas = Object.assign(document.createElement('canvas'), {width: 480, height: 480});
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            return [4, 40].map(at => context.getImageData(at === 4 ? 4 : 240, at, 1, 1).data[3]);
        }""")
        assert alpha[0] == 0 and 0 < alpha[1] < 255
        if at < 2:
            page.get_by_role("button", name="Next").tap()


def test_web_30_a_folder_is_chosen_and_left_with_buttons_of_one_row(visit, larder):
    visitor = visit(larder, **PHONE)
    visitor.log_in("disk")
    page = visitor.open("/disk/files")
    page.get_by_role("button", name=re.compile("Actions for")).last.tap()
    page.get_by_role("menuitem", name="Move").tap()
    dialog = page.get_by_role("dialog")
    buttons = [dialog.get_by_role("button", name=name).bounding_box() for name in ["Cancel", "Move here"]]
    assert buttons[0]["y"] == buttons[1]["y"] and buttons[0]["x"] < buttons[1]["x"]
    dialog.get_by_role("button", name="Cancel").tap()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name=re.compile("Actions for")).last.tap()
    page.get_by_role("menuitem", name="Delete").tap()
    dialog = page.get_by_role("alertdialog")
    expect(dialog.locator(".dialog-actions > button")).to_have_count(3)
    boxes = [one.bounding_box() for one in dialog.locator(".dialog-actions > button").all()]
    forever, no, yes = boxes
    assert forever["y"] < no["y"] == yes["y"] and no["x"] == forever["x"] < yes["x"]
    assert forever["width"] > no["width"] + yes["width"]
    dialog.get_by_role("button", name="Cancel").tap()
    expect(dialog).to_have_count(0)
