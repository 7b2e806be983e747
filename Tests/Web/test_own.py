"""An app that has no pages of its own: that of docs/your-own-app.md."""
import pathlib

import pytest
from playwright.sync_api import expect

from axe import violations
from larder import Larder

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def larder(request, tmp_path):
    """The program that serves the app beside the five, which the debug build has beside `larder`."""
    settings = {"upstreams_weather_probe_interval_ms": 200}
    if site := request.config.getoption("--site"):
        settings["web_directory"] = site
    server = Larder(str(ROOT / ".build/debug/weather"), tmp_path, **settings)
    yield server.start()
    server.stop()


def test_web_48_a_generic_view_draws_the_list_and_the_page_of_an_app_without_pages(visitor):
    page = visitor.open("/")
    page.get_by_role("link", name="Weather").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Weather")
    expect(page.get_by_role("listitem")).to_have_count(3)
    expect(page.get_by_text("-4.5 °C")).to_be_visible()
    assert not violations(page)
    page.get_by_role("searchbox").fill("kaz")
    expect(page.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("link", name="Kazan").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kazan")
    expect(page.get_by_text("-12.5 °C")).to_be_visible()
    expect(page.get_by_role("term")).to_have_text("Wind")
    expect(page.get_by_role("definition")).to_have_text("9.4 km/h")
    assert not violations(page)
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("kaz")
    expect(page.get_by_role("listitem")).to_have_count(1)
    page.get_by_role("searchbox").fill("oslo")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


def test_web_48_it_says_that_a_copy_is_shown_and_follows_the_api_when_that_is_back(visitor, larder):
    page = visitor.open("/weather/lisbon")
    expect(page.get_by_text("13.5 °C")).to_be_visible()
    larder.fault("weather", "offline")
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_text("No connection. The stored copy is shown.")).to_be_visible()
    expect(page.get_by_text("13.5 °C")).to_be_visible()
    larder.fault("weather", "online")
    expect(page.get_by_text("No connection. The stored copy is shown.")).to_have_count(0)


def test_web_48_in_russian_on_a_phone_and_an_unknown_address_is_told(visit, larder):
    visitor = visit(larder, locale="ru-RU", width=320)
    page = visitor.open("/weather")
    expect(page.get_by_role("heading", level=1)).to_have_text("Погода")
    expect(page.get_by_text("Хельсинки")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page = visitor.open("/weather/oslo")
    expect(page.get_by_text("oslo: такого нет.")).to_be_visible()
