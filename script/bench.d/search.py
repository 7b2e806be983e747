"""How long the Shop's search takes over everything that was ever seen, while the catalogue is out of reach."""
import itertools, urllib.parse

from larder import Larder, call
from latency import latencies

# Words, parts of words, letters, digits, in two scripts: common, rare and absent.
TEXTS = ["red", "хаки", "свитер", "classic red mug", "mug 12", "9999", "zzz", "а", "е", "1", "щ", "ку", "zq", "00", "ий", "soft", "sneakers 5", None]
FILTERS = [{}, {"category_id": 3}, {"category_id": 3, "price_min": 999}, {"price_max": 1}, {"price_min": 100, "price_max": 600}, {"price": 500}]
OFFSETS = [0, 10, 100]
PAGE = 100


def search(executable, folder, sandbox, products=100_000):
    call("PUT", f"{sandbox.base}/_sandbox/catalogue/generated", {"count": products, "seed": 1})
    # Without kept answers, and with room for the pages that the products come in.
    larder = Larder(executable, f"{folder}/search", sandbox, "--rendered-budget-mb", "0", "--cache-budget-mb", "100000")
    for offset in range(0, products, PAGE):
        page = call("GET", f"{larder.base}/v1/shop/search?limit={PAGE}&offset={offset}")
        assert len(page["data"]["items"]) == PAGE, page["meta"]
    sandbox.fault("offline", "catalogue")

    targets = []
    for text, filters, offset in itertools.product(TEXTS, FILTERS, OFFSETS):
        values = filters | ({"q": text} if text else {}) | {"limit": 10, "offset": offset}
        targets.append("/v1/shop/search?" + urllib.parse.urlencode(values))
    # The list is stored in pages of 100, of which none answers a search of 10 rows.
    is_offline = lambda answer: "detail=" in answer.headers["Cache-Status"]
    print(f"\n| search offline over {products} products | p50 / p99 ms |\n|---|---|")
    turns = itertools.cycle(targets)
    latencies(larder, {}, lambda: next(turns), count=len(targets), is_right=is_offline)
    print(f"| {len(targets)} searches | {latencies(larder, {}, lambda: next(turns), count=5 * len(targets), is_right=is_offline)} |", flush=True)
    larder.stop()
    sandbox.fault("online", "catalogue")
