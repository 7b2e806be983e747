"""The pages of a document side by side: chosen, moved, turned and deleted by mouse, by a finger and by keys."""
import re

import pytest
import things
from playwright.sync_api import expect
from touch import Fingers, middle


def stored(larder, number):
    return larder.call("GET", f"/v1/pdf/documents/{number}")["data"]["pages"]


def ids(larder, number):
    return [one["id"] for one in stored(larder, number)]


def grid(visitor, count):
    """A document with its pages side by side, and their ids."""
    number = things.document(visitor.larder, photos=count)
    page = visitor.open(f"/pdf/{number}")
    page.get_by_role("button", name="Arrange pages").click()
    expect(tiles(page)).to_have_count(count)
    # A tile has its size before its picture.
    return page, number, ids(visitor.larder, number)


def tiles(page):
    return page.locator(".tiles > li")


def box(page, number):
    return page.get_by_role("checkbox", name=f"Select page {number}", exact=True)


def ordered(page):
    return page.expect_response(lambda answer: answer.url.endswith("/pages/order") and answer.ok)


def chosen(page):
    return [index + 1 for index, one in enumerate(tiles(page).get_by_role("checkbox").all()) if one.is_checked()]


def test_web_39_the_first_of_12_pages_is_dragged_behind_the_last_in_one_go(visit, larder):
    """In a window that shows two rows of them: the page scrolls along."""
    page, number, before = grid(visit(larder, width=700, height=560), 12)
    page.mouse.move(*middle(tiles(page).first))
    page.mouse.down()
    page.mouse.move(300, 500, steps=4)
    page.mouse.move(300, 545, steps=2)
    page.wait_for_function("() => scrollY > 0 && document.querySelector('.tiles').lastChild.matches('.dragged')")
    with ordered(page):
        page.mouse.up()
    assert ids(larder, number) == [*before[1:], before[0]]
    expect(tiles(page).last.locator("img")).to_have_attribute("data-href", re.compile(before[0]))
    # A drag chooses nothing.
    assert chosen(page) == []


def test_web_39_a_page_is_not_dragged_while_one_reads_or_without_a_server(visit, larder):
    visitor = visit(larder, width=1280, height=1900)
    number = things.document(larder, photos=3)
    page = visitor.open(f"/pdf/{number}")
    for _ in range(2):
        page.get_by_role("button", name="Smaller").click()
    for is_read in [True, False]:
        if not is_read:
            page.get_by_role("button", name="Arrange pages").click()
            expect(tiles(page)).to_have_count(3)
            larder.stop()
            expect(page.get_by_text("Larder does not answer").first).to_be_visible()
        page.mouse.move(*middle(page.locator(".leaf-item").first))
        page.mouse.down()
        page.mouse.move(*middle(page.locator(".leaf-item").nth(1)), steps=8)
        expect(page.locator(".dragged")).to_have_count(0)
        page.mouse.up()
        assert not [one for one in visitor.requests if one.endswith("/pages/order")]


def test_web_39_a_dragged_page_stays_when_the_document_is_drawn_anew(visitor, larder):
    page, number, before = grid(visitor, 4)
    page.mouse.move(*middle(tiles(page).first))
    page.mouse.down()
    page.mouse.move(*middle(tiles(page).nth(2)), steps=8)
    expect(tiles(page).nth(2)).to_have_class(re.compile("dragged"))
    with page.expect_response(lambda answer: answer.url.endswith(f"/v1/pdf/documents/{number}") and answer.ok):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    for _ in range(10):
        page.evaluate("new Promise(requestAnimationFrame)")
    expect(tiles(page).nth(2)).to_have_class(re.compile("dragged"))
    with ordered(page):
        page.mouse.up()
    assert ids(larder, number) == [before[1], before[2], before[0], before[3]]


def test_web_39_chosen_pages_are_dragged_together(visitor, larder):
    page, number, before = grid(visitor, 6)
    for one in (5, 2):
        box(page, one).check()
    page.mouse.move(*middle(tiles(page).nth(4)))
    page.mouse.down()
    with ordered(page):
        page.mouse.move(*middle(tiles(page).first), steps=10)
        page.mouse.up()
    a, b, c, d, e, f = before
    assert ids(larder, number) == [b, e, a, c, d, f]
    assert chosen(page) == [1, 2]


def test_web_39_a_finger_that_rests_lifts_a_page_and_one_that_moves_scrolls(visit, larder):
    page, number, before = grid(visit(larder, width=390, height=700), 12)
    fingers = Fingers(page)
    page.evaluate("""() => {
        window.rest = new Promise(done => addEventListener('scrollend', () => done(), {once: true}));
    }""")
    fingers.drag((200, 500), (200, 300))
    page.wait_for_function("() => scrollY > 0")
    page.evaluate("window.rest")
    assert ids(larder, number) == before
    page.evaluate("scrollTo(0, 0)")
    first, third = middle(tiles(page).first), middle(tiles(page).nth(2))
    fingers.down(first)
    page.locator(".dragged").wait_for()
    with ordered(page):
        fingers.move(third)
        fingers.up()
    assert ids(larder, number) == [before[1], before[2], before[0], *before[3:]]
    expect(tiles(page).nth(2).locator("img")).to_have_attribute("data-href", re.compile(before[0]))
    # A press that is short chooses.
    box(page, 2).tap()
    expect(box(page, 2)).to_be_checked()


def test_web_39_ranges_are_chosen_by_shift_by_words_and_by_keys(visitor, larder):
    page, number, before = grid(visitor, 9)
    box(page, 2).click()
    box(page, 5).click(modifiers=["Shift"])
    assert chosen(page) == [2, 3, 4, 5]
    expect(page.get_by_role("textbox", name="Pages")).to_have_value("2–5")
    box(page, 3).click()
    expect(page.get_by_role("textbox", name="Pages")).to_have_value("2, 4–5")
    page.get_by_role("textbox", name="Pages").fill("1-3, 8")
    assert chosen(page) == [1, 2, 3, 8]
    expect(page.get_by_role("status").filter(has_text="selected")).to_have_text("4 pages selected")
    page.get_by_role("button", name="All").click()
    assert chosen(page) == list(range(1, 10))
    # With all of them chosen nothing would be left.
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    # Tab leads to one page, arrows to the others, the space bar chooses.
    box(page, 1).focus()
    page.keyboard.press("Escape")
    assert chosen(page) == []
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+Space")
    assert chosen(page) == [2, 3, 4]
    page.keyboard.press("End")
    expect(box(page, 9)).to_be_focused()
    page.keyboard.press("Control+a")
    assert chosen(page) == list(range(1, 10))


def test_web_39_pages_are_moved_and_turned_by_buttons(visitor, larder):
    page, number, before = grid(visitor, 4)
    box(page, 3).check()
    box(page, 4).check()
    with ordered(page):
        page.get_by_role("button", name="Move earlier").click()
    a, b, c, d = before
    assert ids(larder, number) == [a, c, d, b]
    assert chosen(page) == [2, 3]
    with page.expect_response(lambda answer: answer.url.endswith(d) and answer.ok):
        page.get_by_role("button", name="Turn left").click()
    page.wait_for_function("() => document.querySelectorAll('.tiles img[data-rotation=\"270\"]').length === 2")
    assert [one["rotation"] for one in stored(larder, number)] == [0, 270, 270, 0]


def test_web_39_each_press_on_rotate_counts(visitor, larder):
    number = things.document(larder, photos=1)
    page = visitor.open(f"/pdf/{number}")
    turn = page.get_by_role("button", name="Rotate page 1")
    for _ in range(3):
        turn.click()
    page.locator("img[data-rotation='270']").wait_for()
    assert stored(larder, number)[0]["rotation"] == 270


def test_web_39_a_turn_that_failed_is_sent_again_or_taken_back(visitor, larder):
    number = things.document(larder, photos=1)
    page = visitor.open(f"/pdf/{number}")
    image = page.locator(".leaf-item img")
    for answer in ["Try again", "OK"]:
        page.route("**/pages/*", lambda route: route.abort("connectionrefused"), times=1)
        page.get_by_role("button", name="Rotate page 1").click()
        problem = page.get_by_role("alertdialog")
        problem.get_by_role("button", name=answer, exact=True).click()
        expect(problem).to_have_count(0)
        expect(image).to_have_attribute("data-rotation", "90")
        assert stored(larder, number)[0]["rotation"] == 90
    expect(image).to_have_attribute("style", re.compile(r"rotate\(0deg\)"))


def gone(page):
    """The request that deletes pages has its response."""
    return page.expect_response(lambda answer: answer.url.endswith("/pages/delete") and answer.ok)


def test_pdf_23_deleted_pages_come_back_by_the_toast_unless_another_change_follows(visitor, larder):
    page, number, before = grid(visitor, 5)
    for one in (2, 3):
        box(page, one).check()
    with gone(page):
        page.get_by_role("button", name="Delete", exact=True).click()
    expect(tiles(page)).to_have_count(3)
    assert ids(larder, number) == [before[0], *before[3:]]
    page.get_by_role("button", name="Undo").click()
    expect(tiles(page)).to_have_count(5)
    assert ids(larder, number) == before
    # The next change is made without them.
    box(page, 2).check()
    with gone(page):
        page.keyboard.press("Delete")
    expect(tiles(page)).to_have_count(4)
    box(page, 1).check()
    with ordered(page):
        page.get_by_role("button", name="Move later").click()
    assert ids(larder, number) == [before[2], before[0], *before[3:]]
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)


def test_pdf_23_each_change_is_taken_back_by_the_menu_after_a_reload_too(visitor, larder):
    page, number, before = grid(visitor, 4)

    def undo():
        page.get_by_role("button", name="More actions").click()
        with page.expect_response(lambda answer: answer.url.endswith("/undo") and answer.ok):
            page.get_by_role("menuitem", name="Undo").click()

    box(page, 1).check()
    with gone(page):
        page.keyboard.press("Delete")
    box(page, 1).check()
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok):
        page.get_by_role("button", name="Turn right").click()
    page.reload()
    expect(tiles(page)).to_have_count(3)
    undo()
    page.wait_for_function("() => document.querySelectorAll('.tiles img[data-rotation=\"0\"]').length === 3")
    undo()
    expect(tiles(page)).to_have_count(4)
    assert ids(larder, number) == before
    page.get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Rename")).to_be_visible()
    expect(page.get_by_role("menuitem", name="Undo")).to_have_count(0)


def test_pdf_23_a_toast_takes_back_no_change_of_another(visitor, larder):
    page, number, before = grid(visitor, 3)
    box(page, 1).check()
    with gone(page):
        page.keyboard.press("Delete")
    page.get_by_role("button", name="Undo").wait_for()
    larder.call("PATCH", f"/v1/pdf/documents/{number}/pages/{before[1]}", {"rotate_by": 90})
    page.get_by_role("button", name="Undo").click()
    problem = page.get_by_role("alertdialog")
    expect(problem).to_contain_text("Nothing was overwritten")
    assert ids(larder, number) == before[1:]


def test_web_39_pages_that_are_deleted_in_a_row_stay_away(visitor, larder):
    page, number, before = grid(visitor, 4)
    for left in (3, 2):
        box(page, 1).check()
        page.keyboard.press("Delete")
        expect(tiles(page)).to_have_count(left)
    expect(page.get_by_role("button", name="Undo")).to_have_count(1)
    assert ids(larder, number) == before[2:]
    page.get_by_role("button", name="Undo").click()
    expect(tiles(page)).to_have_count(3)
    assert ids(larder, number) == before[1:]


def test_web_39_pages_whose_deletion_fails_are_there_again(visitor, larder):
    page, number, before = grid(visitor, 3)
    page.route("**/pages/delete", lambda route: route.abort("connectionrefused"), times=1)
    box(page, 1).check()
    page.keyboard.press("Delete")
    page.get_by_role("alertdialog").get_by_role("button", name="OK", exact=True).click()
    expect(tiles(page)).to_have_count(3)
    assert ids(larder, number) == before


def test_web_39_the_grid_is_there_again_after_a_reload(visitor):
    page, _, _ = grid(visitor, 3)
    page.reload()
    expect(tiles(page)).to_have_count(3)
    expect(page.get_by_role("button", name="Done").locator("path")).to_have_attribute("d", "M5 13l4 4L19 7")
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".leaves:not(.tiles) > li")).to_have_count(3)
