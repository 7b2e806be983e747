"""The checks of the other tests find what they are there for."""
import re
from pathlib import Path

import axe, layout
import pytest

SOUND = """<!doctype html><html lang="en"><head><title>Page</title><meta name="viewport" content="width=device-width">
<style>button {{ min-width: 44px; min-height: 44px; color: #111; background: #eee }}</style></head>
<body><header><nav aria-label="Apps"><a href="#main">Main</a></nav></header>
<main id="main"><h1>Page</h1>{}</main></body></html>"""


@pytest.fixture
def blank(visitor):
    return visitor.context.new_page()


def show(page, content):
    page.set_content(SOUND.format(content))
    return page


def test_web_29_axe_finds_planted_faults(blank):
    assert axe.violations(show(blank, "<button>Send</button>")) == []
    for rule, content in {
        "button-name": "<button></button>",
        "color-contrast": "<p style='color: #999; background: #aaa'>Pale</p>",
        "image-alt": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
        "label": "<input type=text>",
        "heading-order": "<h4>Deep</h4>",
    }.items():
        found = axe.violations(show(blank, content))
        assert [one.split(":")[0] for one in found] == [rule], found


@pytest.mark.parametrize("scheme, colours", [("light", "#aaa, #eee"), ("dark", "#111, #444")])
def test_web_29_a_fault_of_one_scheme_is_found_in_the_other(blank, scheme, colours):
    for own in ["light", "dark"]:
        blank.emulate_media(color_scheme=own)
        style = f"color-scheme: light dark; background: light-dark(#fff, #222); color: light-dark({colours})"
        found, = axe.violations(show(blank, f"<p style='{style}'>Pale"))
        assert found.startswith("color-contrast") and found.endswith(f"only {scheme}")
        assert blank.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (own == "dark")


@pytest.mark.parametrize("state", ["hover", "active", "focus"])
def test_web_29_what_is_pale_in_one_state_is_found(blank, state):
    page = show(blank, f"<style>button:{state} {{ color: #ccc }}</style><button>Send</button>")
    assert axe.violations(page) == []
    found, = axe.pale(page)
    assert found.startswith("color-contrast") and axe.violations(page) == []


def test_web_31_layout_finds_planted_faults(blank):
    assert layout.wider(show(blank, "<table><td>Narrow</table>")) == []
    assert "Wide" in layout.wider(show(blank, "<table style='width: 3000px'><td>Wide</table>"))[0]
    assert layout.smaller(show(blank, "<button>Send</button><p>A <a href='/'>link</a> in a sentence.</p>"), 44,
                          "main a, main button") == []
    small = "<button style='min-width: 0; min-height: 0; padding: 0; border: 0; width: 20px; height: 20px'>×</button>"
    assert "20 × 20" in layout.smaller(show(blank, small))[0]
    assert layout.smaller(show(blank, "<button>Send</button>"), 48, "main button") != []


@pytest.mark.parametrize("content, part", [
    ("<p style='width: 90px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis'>A long name.txt", "p"),
    ("<div style='width: 90px; overflow: hidden'><button style='margin-left: 60px'>Send it</button></div>", "button"),
    ("<div style='height: 20px; overflow: hidden'><p>One<br>Two</div>", "p"),
    ("<p style='margin-left: -40px'>Begins outside", "p"),
    ("<nav aria-label=Ways style='overflow-x: auto; width: 90px; display: flex'><a href=/a>One</a>"
     "<a href=/b style='margin-left: 80px'>Two</a></nav>", "a"),
    ("<select style='width: 80px'><option>The longest of all names</select>", "select"),
    ("<input aria-label=Words placeholder='What are you looking for?' style='width: 60px'>", "input"),
])
def test_web_31_what_is_cut_is_found(blank, content, part):
    found = layout.cut(show(blank, content))
    assert found and all(f"<{part}" in one for one in found), found


def test_web_31_what_is_whole_or_scrolls_is_not_found(blank):
    for content in [
        "<p>A sentence that is as long as it is wide.</p><button>Send</button>",
        "<div style='overflow-x: auto; width: 90px' tabindex=0><p style='width: 300px'>One that can be scrolled</div>",
        "<span style='position: absolute; clip-path: inset(50%); width: 1px; overflow: hidden'>Only said</span>",
        "<p hidden style='margin-left: -400px'>Not shown</p><select><option>One<option>Another</select>",
    ]:
        assert layout.cut(show(blank, content)) == [], content


@pytest.mark.parametrize("script", [
    "console.error('planted')",
    "setTimeout(() => { throw new Error('planted'); })",
    "Promise.reject(new Error('planted'))",
])
def test_web_34_a_script_error_is_heard(blank, visitor, script):
    blank.evaluate(f"() => {{ {script}; }}")
    heard = visitor.take_faults(blank)
    assert heard and all("planted" in fault for fault in heard), heard


def test_web_02_a_broken_policy_is_heard(blank, visitor, larder):
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    blank.set_content(f"{policy}<img src='{larder.url}/v1'>")
    heard = visitor.take_faults(blank)
    assert any("Content Security Policy" in fault for fault in heard), heard


# The policy of the pages forbids `eval`: Playwright's second look at an expression would fail, which shows on slow
# machines only. A function is made once.
def test_what_tests_wait_for_is_a_function():
    for source in Path(__file__).parent.glob("*.py"):
        waits = re.findall(r'wait_for_function\(\s*f?("""|")(\S+)', source.read_text())
        assert all(re.match(r"\(\)|\w+$|async", begin) for _, begin in waits), f"{source.name}: {waits}"
