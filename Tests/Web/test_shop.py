"""The Shop app."""
import re

import axe
import pytest
import things
import touch
from playwright.sync_api import expect


def search(page, words):
    field = page.get_by_role("combobox", name="Search")
    field.fill(words)
    with page.expect_response(re.compile(rf"/v1/shop/search\?(.*&)?q={words}\b")):
        field.press("Enter")
    page.wait_for_url(lambda url: f"q={words}" in url)
    expect(page.locator("#main [aria-busy=true]")).to_have_count(0)


def test_web_19_search_and_filters_survive_reload_back_and_a_restart(visitor, larder):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    search(page, "shirt")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Price from").fill("10")
    page.get_by_label("Price to").fill("90")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(lambda url: "price_min=10" in url and "price_max=90" in url)
    expect(page.get_by_role("button", name="Without: 10–90$")).to_be_visible()
    found = page.evaluate(
        """async () => (await (await fetch('/v1/shop/search?q=shirt&price_min=10&price_max=90')).json())
            .data.items.map(item => item.title)""")
    assert found
    expect(page.locator(".product-title")).to_have_text(found)
    page.reload()
    expect(page.locator(".product-title")).to_have_text(found)
    expect(page.get_by_role("combobox", name="Search")).to_have_value("shirt")
    page.locator(".product-title").first.click()
    expect(page.locator("h1")).to_have_text(found[0])
    page.go_back()
    expect(page.locator(".product-title").first).to_have_text(found[0])
    larder.stop()
    larder.start()
    page.goto("/shop")
    expect(page.get_by_role("combobox", name="Search")).to_have_value("shirt")
    expect(page.get_by_role("button", name="Without: 10–90$")).to_be_visible()


def test_web_19_a_wrong_price_is_said_at_its_field_before_it_is_sent(visitor):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    page.get_by_role("button", name="Filter").click()
    low, high, exact = [page.get_by_label(name) for name in ["Price from", "Price to", "Exact price"]]
    for prices, wrong, said in [(("500", "5", ""), low, "This is more than the price to."),
                                (("a", "", ""), low, "Write a number such as 9.99."),
                                (("", "9", "7"), exact, "Either an exact price or a range.")]:
        for field, price in zip([low, high, exact], prices):
            field.fill(price)
        page.get_by_role("button", name="Show").click()
        expect(wrong).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_role("dialog")).to_contain_text(said)
    assert not [url for url in visitor.requests if "price" in url]


@pytest.mark.parametrize("typed", ["129.90", "129,9"])
def test_web_19_a_price_with_cents_is_found(visitor, typed):
    page = visitor.open("/shop?q=")
    page.locator(".product").first.wait_for()
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Exact price").fill(typed)
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Without: 129.90$").wait_for()
    expect(page.locator(".product .price")).to_have_text(["129.90$"])
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Exact price").fill("99999.5")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Clear the filter").click()
    page.locator(".product").first.wait_for()


def test_web_19_a_search_that_is_replayed_is_named_and_taken_back(visitor):
    visitor.send("GET", "/v1/shop/search?q=sofa")
    page = visitor.open("/shop")
    again = page.get_by_role("button", name="Without: Last search: sofa")
    again.click()
    expect(again).to_have_count(0)
    expect(page.get_by_role("combobox", name="Search")).to_have_value("")
    expect(page.locator(".product").nth(2)).to_be_visible()
    # One's own search is in its field.
    search(page, "sofa")
    expect(page.locator(".product")).to_have_count(1)
    expect(again).to_have_count(0)


def test_web_19_shop_22_results_are_sorted_and_the_order_survives_reload(visitor):
    page = visitor.open("/shop?q=shirt")
    page.locator(".product").first.wait_for()
    with page.expect_response(re.compile(r"/v1/shop/search\?.*sort=-price")):
        page.get_by_label("Order").select_option("-price")
    for _ in range(2):
        page.wait_for_function("""() => {
            const prices = [...document.querySelectorAll('.product .price')].map(one => parseFloat(one.textContent));
            return prices.length > 1 && prices.every((price, index) => !index || price <= prices[index - 1]);
        }""")
        page.reload()
        expect(page.get_by_label("Order")).to_have_value("-price")


def test_web_19_shop_22_titles_are_suggested_while_one_types(visitor):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    page.get_by_role("combobox", name="Search").press_sequentially("hood")
    suggested = page.get_by_role("listbox").get_by_role("option").first
    expect(suggested).to_contain_text(re.compile("hood", re.I))
    title = suggested.inner_text()
    suggested.click()
    expect(page.locator(".product-title").first).to_have_text(title)


def test_web_19_shop_24_the_sheet_has_pictures_of_categories_and_bounds_of_prices(visitor):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    page.get_by_role("button", name="Filter").click()
    choice = page.get_by_role("dialog").locator(".choice").nth(1)
    name = choice.inner_text()
    expect(choice.locator(".picture")).to_be_visible()
    expect(page.get_by_label("Price from")).to_have_attribute("placeholder", re.compile(r"^\d.*\$$"))
    choice.click()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("button", name=name, exact=True, pressed=True)).to_be_visible()


def test_web_19_categories_are_a_press_away(visitor):
    page = visitor.open("/shop?q=")
    group = page.get_by_role("group", name="Category")
    chip = group.get_by_role("button").nth(1)
    name = chip.inner_text()
    before = page.locator(".product-title").all_inner_texts()
    chip.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "category_id=" in url)
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(chip).to_be_focused()
    found = page.evaluate("""async () => (await (await fetch('/v1' + location.pathname + '/search' + location.search))
        .json()).data.items.map(item => [item.title, item.category.name])""")
    assert {category for _, category in found} == {name}
    expect(page.locator(".product-title")).to_have_text([title for title, _ in found])
    # Another one takes its place, a second press shows all again.
    group.get_by_role("button").first.click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(group.get_by_role("button", pressed=True)).to_have_count(1)
    group.get_by_role("button").first.click()
    expect(group.get_by_role("button", pressed=True)).to_have_count(0)
    expect(page.locator(".product-title").first).to_have_text(before[0])


def test_web_20_shop_24_a_favourite_is_added_on_the_card_beside_related_products(visitor):
    page = visitor.open("/shop/2")
    expect(page.locator(".related .product-title")).not_to_have_count(0)
    title = page.locator("h1").inner_text()
    page.get_by_role("button", name="Add to favourites").click()
    page.get_by_role("button", name="Remove from favourites").wait_for()
    page.goto("/shop/favourites")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    page.get_by_role("button", name="Remove from favourites").click()
    expect(page.get_by_role("link", name=title)).to_have_count(0)


def test_web_19_nothing_found_is_not_said_below_what_is_found_next(visitor):
    page = visitor.open("/shop?q=phone")
    products, nothing = page.locator(".product"), page.locator(".state")
    expect(products).not_to_have_count(0)
    count = products.count()
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Price from").fill("99999")
    page.get_by_role("button", name="Show").click()
    expect(nothing).to_be_visible()
    page.get_by_role("button", name="Without: from 99,999$").click()
    expect(products).to_have_count(count)
    expect(nothing).to_have_count(0)
    expect(page.locator(".count")).to_be_visible()


def test_web_19_the_history_is_chosen_by_keyboard(visitor):
    page = visitor.open("/shop")
    page.locator(".product").first.wait_for()
    for words in ["one", "two", "three", "four", "five", "six"]:
        search(page, words)
    field = page.get_by_role("combobox", name="Search")
    field.blur()
    field.fill("")
    field.focus()
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(5)
    expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text("six")
    field.press("ArrowDown")
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_url(lambda url: "q=five" in url)


def test_web_19_a_range_the_wrong_way_round_is_said_before_it_is_sent(visitor):
    page = visitor.open("/shop")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Price from").fill("90")
    page.get_by_label("Price to").fill("10")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Price from")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Price from")).to_be_focused()
    assert not [url for url in visitor.requests if "price_min" in url]


def test_web_20_a_quantity_is_the_same_everywhere_at_once(visitor):
    results = visitor.open("/shop")
    card = results.locator(".product").first
    name = card.locator(".product-title").inner_text()
    href = card.locator(".product-title").get_attribute("href")
    details, lines = visitor.open(href), visitor.open("/shop/list")
    card.get_by_role("button", name=f"Add {name} to the list").click()
    for page in [results, details, lines]:
        place = page.locator("li", has_text=name).first if page is not details else page.locator("main")
        expect(place.locator(".quantity-count").first).to_have_text("1")
    for number in ["2", "3"]:
        details.get_by_role("button", name=f"One more of {name}").click()
        expect(details.locator(".quantity-count").first).to_have_text(number)
    for page in [results, lines]:
        expect(page.locator("li", has_text=name).first.locator(".quantity-count")).to_have_text("3")
    for _ in range(2):
        lines.get_by_role("button", name=f"One less of {name}").click()
    # One less of the last one is none.
    expect(lines.get_by_role("button", name=f"One less of {name}")).to_have_count(0)
    lines.get_by_role("button", name=f"Take {name} off the list").click()
    expect(card.get_by_role("button", name=f"Add {name} to the list")).to_be_visible()
    lines.get_by_role("button", name="Undo").click()
    expect(card.locator(".quantity-count")).to_have_text("1")


@pytest.mark.parametrize("where", ["results", "list"])
def test_web_20_a_quantity_is_typed(visitor, where):
    things.shopping(visitor, 2)
    page = visitor.open("/shop/list" if where == "list" else "/shop?q=")
    place = page.locator("li", has=page.locator(".quantity-count")).first
    place.get_by_title("Type the quantity").click()
    field = place.get_by_role("textbox", name="Type the quantity")
    expect(field).to_be_focused()
    expect(field).to_have_value("2")
    page.keyboard.type("1x2")
    with page.expect_response(lambda response: "/v1/shop/list/items/" in response.url):
        page.keyboard.press("Enter")
    expect(place.locator(".quantity-count")).to_have_text("12")
    expect(place.get_by_title("Type the quantity")).to_be_focused()
    assert visitor.send("GET", "/v1/shop/list").json()["data"]["items"][0]["quantity"] == 12
    page.keyboard.press("Enter")
    page.keyboard.type("7")
    page.keyboard.press("Escape")
    expect(place.locator(".quantity-count")).to_have_text("12")


def test_web_20_the_last_one_is_taken_off_in_the_results_and_brought_back(visitor):
    things.shopping(visitor, 1)
    page = visitor.open("/shop?q=")
    place = page.locator("li", has=page.locator(".quantity-count")).first
    place.get_by_role("button", name=re.compile("^Take .* off the list$")).click()
    expect(page.get_by_text(re.compile("is off the list"))).to_be_visible()
    expect(page.locator(".quantity-count")).to_have_count(0)
    with page.expect_response(lambda response: response.url.endswith("/v1/shop/list/items")):
        page.get_by_role("button", name="Undo").click()
    expect(page.locator(".quantity-count")).to_have_text("1")
    assert visitor.send("GET", "/v1/shop/list").json()["data"]["items"][0]["quantity"] == 1


def order(page):
    return page.locator(".rows > li .row-link").all_inner_texts()


def test_web_20_the_order_is_changed_by_keyboard_and_kept(visitor):
    things.shopping(visitor, 1, 2, 3)
    page = visitor.open("/shop/list")
    page.locator(".rows > li").nth(2).wait_for()
    first, second, third = order(page)
    page.get_by_role("button", name=f"Move {first}:").focus()
    with page.expect_response(lambda answer: answer.url.endswith("/v1/shop/list/order") and answer.ok):
        page.keyboard.press("ArrowDown")
    page.wait_for_function("name => document.querySelector('.rows > li .row-link').textContent === name", arg=second)
    page.reload()
    page.locator(".rows > li").nth(2).wait_for()
    assert order(page) == [second, first, third]


@pytest.mark.parametrize("way", ["press", "Enter"])
def test_web_20_the_order_is_changed_without_a_drag(visit, larder, way):
    phone = visit(larder, width=390)
    things.shopping(phone, 1, 2, 3)
    page = phone.open("/shop/list")
    page.locator(".rows > li").nth(2).wait_for()
    first, second, third = order(page)
    grip = page.get_by_role("button", name=f"Move {third}:")
    grip.tap() if way == "press" else grip.press("Enter")
    menu = page.get_by_role("menu", name="Order")
    expect(menu.get_by_role("menuitem")).to_have_text(["Move to the top", "Move up"])
    axe.check(page)
    with page.expect_response(lambda answer: answer.url.endswith("/v1/shop/list/order") and answer.ok):
        menu.get_by_role("menuitem", name="Move to the top").click()
    page.reload()
    page.locator(".rows > li").nth(2).wait_for()
    assert order(page) == [third, first, second]


def test_web_20_a_press_on_a_handle_at_the_foot_of_the_screen_moves_nothing(visit, larder):
    phone = visit(larder, width=390)
    things.shopping(phone, *range(1, 13))
    page = phone.open("/shop/list")
    page.locator(".rows > li").nth(11).wait_for()
    before = order(page)
    # The last row that is in sight above the totals, within the edge that scrolls while a row is dragged.
    top = page.locator(".totals").first.bounding_box()["y"]
    rows = [row for row in page.locator(".rows > li").all() if row.bounding_box()["y"] + 60 < top]
    grip = rows[-1].locator(".sort-handle").bounding_box()
    fingers = touch.Fingers(page)
    fingers.down((grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2))
    page.evaluate("() => new Promise(done => setTimeout(done, 200))")
    fingers.up()
    expect(page.get_by_role("menu", name="Order")).to_be_visible()
    assert order(page) == before


def test_web_20_the_only_line_of_a_list_has_no_order(visitor):
    things.shopping(visitor, 1)
    page = visitor.open("/shop/list")
    page.locator(".sort-handle").click()
    expect(page.get_by_role("menu")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 390])
def test_w18_a_line_of_the_list_is_two_lines_on_a_phone(visit, larder, width):
    visitor = visit(larder, width=width)
    things.shopping(visitor, 1, 2, 3)
    page = visitor.open("/shop/list")
    row = page.locator(".rows > li").first
    middle = {name: (lambda box: box["y"] + box["height"] / 2)(row.locator(name).first.bounding_box())
              for name in [".row-check", ".thumb", ".row-main", ".sort-handle", ".quantity", ".line-total"]}
    upper = [middle[name] for name in [".row-check", ".thumb", ".row-main", ".sort-handle"]]
    lower = [middle[name] for name in [".quantity", ".line-total"]]
    assert max(upper) - min(upper) < 16 and max(lower) - min(lower) < 8 and min(lower) > max(upper) + 30
    assert row.locator(".row-check").bounding_box()["x"] - row.bounding_box()["x"] >= 12


def test_w18_a_favourite_that_is_on_the_list_keeps_its_name_whole_on_a_phone(visit, larder):
    visitor = visit(larder, width=390)
    visitor.send("POST", "/v1/shop/favourites", {"product_id": 1})
    things.shopping(visitor, 1)
    page = visitor.open("/shop/favourites")
    page.get_by_role("group", name="Quantity").get_by_text("1").wait_for()
    assert page.locator(".row-main").bounding_box()["width"] > 200
    expect(page.get_by_role("button", name=re.compile("favourites"))).to_be_in_viewport()


@pytest.mark.parametrize("width", [390, 1280])
def test_web_19_a_single_hit_is_as_wide_as_a_card_of_the_catalogue(visit, larder, width):
    page = visit(larder, width=width).open("/shop?q=")
    wide = page.locator(".product.wide").first.bounding_box()["width"]
    page.goto("/shop?q=chair")
    expect(page.locator(".product")).to_have_count(1)
    assert abs(page.locator(".product").bounding_box()["width"] - wide) < 2


@pytest.mark.parametrize("locale, title, words", [("en-GB", "Shopping list", "Still to buy: 2 · "),
                                                  ("ru-RU", "Список покупок", "Осталось купить: 2 · ")])
def test_web_20_what_is_bought_is_not_counted_as_still_to_buy(visit, larder, locale, title, words):
    visitor = visit(larder, width=390, locale=locale)
    things.shopping(visitor, 1, 2, 3)
    page = visitor.open("/shop/list")
    expect(page.locator("h1")).to_have_text(title)
    page.locator(".rows > li").nth(2).wait_for()
    expect(page.locator(".totals")).not_to_contain_text(words)
    page.get_by_role("checkbox").first.check()
    lines = visitor.send("GET", "/v1/shop/list").json()["data"]["items"]
    rest = sum(line["line_total"] for line in lines[1:])
    count = sum(line["quantity"] for line in lines[1:])
    expect(page.locator(".totals")).to_contain_text(words.replace("2", str(count)))
    digits = re.sub(r"\D", "", page.locator(".totals p").last.inner_text().split("·")[1])
    assert int(digits) == round(rest * 100)


def test_web_20_a_removed_line_comes_back_and_the_list_is_shared(visitor, larder):
    things.shopping(visitor, 1, 2)
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("/shop/list")
    page.locator(".rows > li").nth(1).wait_for()
    name = order(page)[0]
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_role("link", name=name)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name=name)).to_be_visible()
    page.get_by_role("button", name=re.compile("Share|Поделиться")).first.click()
    page.get_by_text("Copied").wait_for()
    sent = visitor.context.request.get("/v1/shop/list/share", headers={"Accept-Language": "en"}).json()["data"]["text"]
    assert page.evaluate("navigator.clipboard.readText()") == sent


def test_web_20_a_line_is_checked_off_on_every_device_and_after_a_reload(visitor):
    things.shopping(visitor, 1, 2)
    page, other = visitor.open("/shop/list"), visitor.open("/shop/list")
    page.locator(".cart > li").nth(1).wait_for()
    name = order(page)[0]
    total = page.locator(".totals .big").inner_text()
    box = page.get_by_role("checkbox", name=f"Bought: {name}")
    box.focus()
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    expect(other.get_by_role("checkbox", name=f"Bought: {name}")).to_be_checked()
    page.reload()
    expect(box).to_be_checked()
    expect(page.locator(".totals .big")).to_have_text(total)
    # A line that was removed comes back as it was.
    page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.locator(".cart > li")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cart > li")).to_have_count(2)
    expect(box).to_be_checked()
    # Two presses that follow at once are both stored.
    box.click()
    box.click()
    expect(box).to_be_checked()
    box.click()
    expect(box).not_to_be_checked()
    expect(other.get_by_role("checkbox", name=f"Bought: {name}")).not_to_be_checked()


def test_web_20_a_check_that_is_not_stored_is_taken_back(visitor, larder):
    things.shopping(visitor, 1)
    page = visitor.open("/shop/list")
    box = page.get_by_role("checkbox", name=re.compile("^Bought: "))
    box.wait_for()
    problem = '{"status":503,"code":"store-unavailable","title":"Not now"}'
    page.route("**/v1/shop/list/items/*", lambda route: route.fulfill(
        status=503, content_type="application/problem+json", body=problem))
    box.click()
    page.get_by_role("alertdialog").get_by_role("button", name="OK").click()
    expect(box).not_to_be_checked()


def test_web_20_words_in_another_language_say_so(visit, larder):
    page = visit(larder, locale="ru-RU").open("/shop?q=zzzz")
    page.get_by_text("Извините, таких товаров пока нет :(").wait_for()
    assert page.evaluate("document.documentElement.lang") == "ru"
    product = visit(larder, locale="ru-RU").open("/shop/1")
    product.locator(".prose").wait_for()
    assert product.evaluate("document.querySelector('.prose').closest('[lang]').lang") == "en"


def test_web_20_the_list_is_cleared_and_its_last_row_removed(visitor):
    def left():
        return visitor.send("GET", "/v1/shop/list").json()["data"]["items"]

    things.shopping(visitor)
    page = visitor.open("/shop/list")
    rows = page.locator(".cart > li")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="Clear").click()
    page.locator("dialog[open] .dialog-actions button").last.click()
    expect(page.locator(".state h2")).to_be_visible()
    expect(page.locator(".totals")).to_be_hidden()
    assert left() == []
    things.shopping(visitor, 1)
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name=re.compile("^Remove")).click()
    expect(page.locator(".state h2")).to_be_visible()
    assert left() == []
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(1)
