"""What a designer stumbled over who saw the pages for the first time: the shell, home, Disk and the control room."""
import re

import pytest
import things
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}
TEXT = {"Content-Type": "text/plain"}


def put(visitor, name, content=b"text"):
    visitor.send("PUT", f"/v1/disk/file/content?path=disk%3A%2F{name}", content, **TEXT)


def files(visitor, *names):
    visitor.log_in("disk")
    for name in names:
        put(visitor, name)
    page = visitor.open("/disk/files")
    page.locator(".rows > li").first.wait_for()
    return page


@pytest.mark.parametrize("key", ["#", "Delete"])
def test_web_30_a_file_is_deleted_by_the_keys_that_the_help_names(visitor, key):
    page = files(visitor, "a.txt")
    page.get_by_role("link", name="a.txt", exact=True).focus()
    page.keyboard.press(key)
    dialog = page.get_by_role("alertdialog")
    dialog.get_by_role("button", name="Delete file").click()
    expect(page.get_by_role("link", name="a.txt", exact=True)).to_have_count(0)


def test_web_17_what_cannot_be_undone_is_red_and_asked_twice(visitor):
    page = files(visitor, "a.txt")
    page.get_by_role("link", name="a.txt", exact=True).focus()
    page.keyboard.press("Delete")
    dialog = page.get_by_role("alertdialog")
    expect(dialog.get_by_role("heading")).to_have_text("Delete “a.txt”?")
    expect(dialog).to_contain_text("Current file will be deleted")
    expect(dialog.get_by_role("button", name="Delete file")).to_have_class(re.compile("danger"))
    forever = dialog.get_by_role("button", name="Delete for good")
    # Both are red: this one stands apart, and asks again.
    expect(forever).to_have_class(re.compile("danger apart"))
    forever.click()
    expect(dialog).to_contain_text("a.txt: this cannot be undone.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert visitor.send("GET", "/v1/disk/file?path=disk%3A%2Fa.txt").status == 200
    page.keyboard.press("Delete")
    forever.click()
    dialog.filter(has_text="cannot be undone").get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("link", name="a.txt", exact=True)).to_have_count(0)
    trash = visitor.send("GET", "/v1/disk/trash?refresh=1&limit=100").json()["data"]["items"]
    assert "a.txt" not in [item["name"] for item in trash]


@pytest.mark.parametrize("width", [390, 1280])
def test_web_45_a_card_with_nothing_is_as_high_as_its_sentence_and_none_jumps(visit, larder, width):
    visitor = visit(larder, width=width)
    things.shopping(visitor, 1, 2)
    page = visitor.open("/")
    cart, notes = page.get_by_role("region", name="Shopping list"), page.get_by_role("region", name="Notes")
    cart.locator("li").nth(1).wait_for()
    for _ in range(2):
        page.reload()
        cart.locator("li").nth(1).wait_for()
        notes.get_by_role("link", name="Log in").wait_for()
        assert notes.bounding_box()["height"] < 130
    # Its room is kept while the answer is on its way.
    height = cart.bounding_box()["height"]
    page.route("**/v1/shop/list", lambda route: None)
    page.reload()
    cart.wait_for()
    assert cart.bounding_box()["height"] == pytest.approx(height, abs=2)
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("locale, tool", [("en-GB", "Open the control room"), ("ru-RU", "Открыть пульт")])
def test_web_45_home_names_what_a_button_does(visit, larder, locale, tool):
    page = visit(larder, locale=locale).open("/")
    page.get_by_role("link", name=tool).click()
    expect(page).to_have_url(re.compile("/status$"))


def test_web_44_what_is_one_s_own_has_no_sign_and_what_is_current_always_the_same(visitor):
    visitor.log_in("notes", "ships")
    page = visitor.open("/notes")
    page.locator(".state").wait_for()
    expect(page.locator(".page-origin .chip:visible")).to_have_count(0)
    page = visitor.open("/ships")
    page.locator(".rows > li").first.wait_for()
    signs = set()
    for _ in range(2):
        signs.add(page.locator(".chip.quiet path").get_attribute("d"))
        page.reload()
        page.locator(".chip.quiet").wait_for()
    assert len(signs) == 1


@pytest.mark.parametrize("locale, skip, following", [("en-GB", "Skip", "Next"), ("ru-RU", "Пропустить", "Далее")])
def test_web_15_the_onboarding_is_skipped_and_leads_to_the_login(visit, larder, locale, skip, following):
    visitor = visit(larder, locale=locale, **PHONE)
    page = visitor.open("/disk/onboarding")
    button = page.get_by_role("button", name=following, exact=True)
    # Its place in the layout: while it is pressed, it is drawn a pixel lower.
    places = [button.evaluate("button => button.offsetTop")]
    for _ in range(2):
        button.tap()
        places.append(button.evaluate("button => button.offsetTop"))
    assert max(places) - min(places) < 1
    expect(page.get_by_role("button", name=skip)).to_be_hidden()
    button.tap()
    expect(page).to_have_url(re.compile("/disk/login"))
    visitor.send("DELETE", "/v1/disk/onboarding")
    page.goto("/disk/onboarding")
    page.get_by_role("button", name=skip).tap()
    expect(page).to_have_url(re.compile("/disk/login"))


@pytest.mark.parametrize("locale, said", [("en-GB", "The files on Yandex Disk stay"),
                                          ("ru-RU", "Файлы на Яндекс Диске, заметки и документы остаются")])
def test_web_06_who_logs_out_reads_which_data_go(visit, larder, locale, said):
    visitor = visit(larder, locale=locale)
    visitor.log_in("disk")
    page = visitor.open("/disk/profile")
    page.get_by_role("button", name=re.compile("Log Out|Выйти")).click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text(re.compile("All local data will be deleted|Все локальные данные будут удалены"))
    expect(dialog).to_contain_text(said)


def test_web_18_a_file_is_described_in_words_and_an_empty_one_says_so(visitor):
    visitor.log_in("disk")
    put(visitor, "empty.txt", b"")
    page = visitor.open("/disk/file?path=disk%3A%2Fempty.txt")
    expect(page.get_by_text("This file is empty.")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("TXT")
    page.goto("/disk/file?path=disk%3A%2FОтчёт за год.pdf")
    expect(page.locator(".facts")).to_contain_text("PDF document")
    expect(page.locator(".facts")).not_to_contain_text("application/")


@pytest.mark.parametrize("width", [390, 1280])
def test_web_41_the_button_of_a_picture_covers_none_of_it_and_folders_are_signs(visit, larder, width):
    visitor = visit(larder, width=width)
    page = files(visitor)
    page.get_by_role("button", name="Show as pictures").click()
    for row in page.locator(".gallery-view > li").all()[:6]:
        picture, button = row.locator(":scope > :is(.picture, .file-sign)").bounding_box(), \
            row.locator(".row-end").bounding_box()
        assert picture["y"] + picture["height"] <= button["y"] + 1
    ground = page.locator(".gallery-view .kind-folder").first.evaluate("one => getComputedStyle(one).backgroundColor")
    assert ground == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("width", [390, 1280])
def test_web_41_no_extension_is_broken_and_kinds_of_files_have_signs_of_their_own(visit, larder, width):
    visitor = visit(larder, width=width)
    files(visitor)
    page = visitor.open("/disk/files?path=disk%3A%2F%D0%94%D0%BE%D0%BA%D1%83%D0%BC%D0%B5%D0%BD%D1%82%D1%8B")
    page.get_by_role("button", name="Show as pictures").click()
    page.locator(".gallery-view .row-link").first.wait_for()
    lines = page.locator(".gallery-view .row-link").evaluate_all("""names => names.map(name => {
        const range = document.createRange();
        range.selectNodeContents(name.lastChild);
        return new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size;
    })""")
    assert len(lines) > 10 and set(lines) == {1}
    signs = {kind: page.locator(f".kind-{kind} path").first.get_attribute("d") for kind in ["word", "excel", "folder"]}
    assert len(set(signs.values())) == 3


def test_web_17_a_file_is_uploaded_where_the_recent_ones_are(visitor):
    visitor.log_in("disk")
    page = visitor.open("/disk/recent")
    page.locator(".rows > li").first.wait_for()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload").click()
    chooser.value.set_files({"name": "new.txt", "mimeType": "text/plain", "buffer": b"new"})
    expect(page.locator(".tray-item[data-state=done]")).to_contain_text("new.txt")
    assert visitor.send("GET", "/v1/disk/file?path=disk%3A%2Fnew.txt").status == 200


def test_web_17_dates_of_the_trash_and_the_outbox_are_those_of_the_browser(visitor):
    page = files(visitor, "a.txt")
    visitor.send("DELETE", "/v1/disk/file?path=disk%3A%2Fa.txt")
    page.goto("/disk/trash")
    deleted = re.compile(r"^Deleted \d{1,2} [A-Z][a-z]{2,3} \d{4} · was in Disk$")
    expect(page.locator(".rows > li .row-sub").first).to_have_text(deleted)


@pytest.mark.parametrize("locale, off, back", [("en-GB", "Take everything offline", "Bring everything back"),
                                               ("ru-RU", "Отключить всё", "Вернуть всё")])
def test_web_27_one_button_is_the_main_one_and_offline_is_the_second_fault(visit, larder, locale, off, back):
    page = visit(larder, locale=locale).open("/status")
    main = page.locator(".sandbox .primary:visible")
    expect(main).to_have_text(off)
    choices = page.locator(".upstream[data-name=spacex] .fault option")
    expect(choices.nth(1)).to_have_text(re.compile("^(Offline|Без связи)"))
    larder.fault("spacex", "error(503)")
    page.reload()
    expect(main).to_have_text(back)
    expect(page.get_by_role("button", name=off)).to_be_visible()
    # What only developers ask for is folded.
    for words in ["vips", "GET /v1/status"]:
        expect(page.get_by_text(words, exact=True)).to_be_hidden()


def test_web_12_a_lost_server_promises_nothing_that_is_not_so(visitor, larder):
    visitor.log_in("ships")
    page = visitor.open("/ships")
    page.locator(".rows > li").first.wait_for()
    larder.stop()
    expect(page.locator("#lost")).to_contain_text("You can change things again when it is back.")
    larder.start()
