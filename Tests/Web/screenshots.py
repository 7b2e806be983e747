"""Pictures of every screen; see script/screenshots."""
import argparse, os, pathlib, re, sys, tempfile

sys.dont_write_bytecode = True
from playwright.sync_api import sync_playwright

from larder import PATIENCE_MS, Larder
from screens import SCREENS, furnish, settle
from visitor import Visitor

ROOT = pathlib.Path(__file__).parents[2]
HEIGHTS = {390: 844, 1280: 800}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larder", default=os.environ.get("LARDER_EXECUTABLE", str(ROOT / ".build/debug/larder")))
    parser.add_argument("--site", help="takes the pages from this folder instead of the executable")
    parser.add_argument("--output", default=str(ROOT / ".build/web-shots"))
    parser.add_argument("--language", default="en-GB", help="of the browser, such as ru-RU")
    parser.add_argument("--readme", action="store_true", help="the picture of the README as well")
    parser.add_argument("names", nargs="?", default="")
    options = parser.parse_args()
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    faults = []
    with tempfile.TemporaryDirectory(prefix="larder-shots-") as data, sync_playwright() as playwright:
        settings = {"web_directory": options.site} if options.site else {}
        larder = Larder(options.larder, data, **settings).start()
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=arguments)
        try:
            first = Visitor(browser, larder)
            furnished = furnish(first)
            cookies = first.context.storage_state()
            for width, height in HEIGHTS.items():
                for scheme in ["light", "dark"]:
                    visitor = Visitor(browser, larder, width, height, scheme, options.language, storage_state=cookies)
                    # Pictures are no test of how soon a page is there.
                    visitor.context.set_default_timeout(4 * PATIENCE_MS)
                    for screen in SCREENS:
                        if re.search(options.names, screen.name):
                            shoot(screen, visitor, furnished, folder / f"{screen.name}-{width}-{scheme}.png", faults)
                    faults += visitor.faults
                    visitor.context.close()
            if options.readme:
                pictures = ROOT / "docs/pictures"
                pictures.mkdir(exist_ok=True)
                faults += offline(Visitor(browser, larder, 1000, 640, storage_state=cookies), pictures / "ships.png")
        finally:
            browser.close()
            larder.stop()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    sys.exit("\n".join(sorted(set(faults))) or 0)


def offline(visitor, path):
    """The picture of the README: a list that Larder kept, after its upstream has gone."""
    page = visitor.open("/ships")
    page.locator(".rows > li").first.wait_for()
    visitor.larder.fault("spacex", "offline")
    visitor.send("GET", "/v1/ships?refresh=1")
    page.locator(".banner").wait_for()
    settle(page)
    page.screenshot(path=path)
    visitor.larder.fault("spacex", "online")
    return visitor.faults


def shoot(screen, visitor, furnished, path, faults):
    try:
        page = screen.open(visitor, furnished)
        page.screenshot(path=path)
        page.close()
    except Exception as error:
        faults.append(f"{screen.name}: {str(error).splitlines()[0]} waiting for {visitor.waiting()}")
        for page in visitor.context.pages:
            page.screenshot(path=path)
            page.close()


if __name__ == "__main__":
    main()
