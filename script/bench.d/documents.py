"""How long a merge takes beside qpdf, and a thumbnail; and what the server needs for them."""
import json, statistics, subprocess, time

from larder import Larder, call
from photos import twelve_megapixels
from processes import ALL_CORES

PAGES = 100


def pdf(name, count):
    """A document of so many pages with a line of text each."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{' '.join(f'{3 + 2 * i} 0 R' for i in range(count))}] /Count {count} >>"]
    for number in range(count):
        stream = f"BT /F1 24 Tf 72 700 Td ({name}, page {number}) Tj ET"
        font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {4 + 2 * number} 0 R /Resources {font} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    text, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(text))
        text += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    return text + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"


def _pages(path, name):
    with open(path, "w") as file:
        file.write(pdf(name, PAGES))
    return path


def _median(work, rounds=11):
    times = []
    for _ in range(rounds):
        begin = time.monotonic()
        work()
        times.append(time.monotonic() - begin)
    return f"{statistics.median(times):.3f}"


def _run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def documents(executable, folder, sandbox):
    larder = Larder(executable, f"{folder}/documents", sandbox, core=ALL_CORES)
    base = f"{larder.base}/v1/pdf"

    def made(*files):
        parts = [part for file in files for part in ("-F", f"files=@{file}")]
        return json.loads(_run("curl", "-sf", f"{base}/documents", *parts))["data"]["href"].rsplit("/", 1)[1]

    def saved(file):
        identity = made(file)
        call("POST", f"{base}/documents/{identity}/save", {})
        return identity

    photo = next(twelve_megapixels(folder, "grey"))
    print("\n| documents | larder s | beside |\n|---|---|---|")
    one, two = _pages(f"{folder}/one.pdf", "one"), _pages(f"{folder}/two.pdf", "two")
    merge = {"first": saved(one), "second": saved(two)}
    beside = _median(lambda: _run("qpdf", "--empty", "--pages", one, two, "--", f"{folder}/merged.pdf"))
    print(f"| merge of two documents of {PAGES} pages | {_median(lambda: call('POST', f'{base}/merge', merge))} | qpdf {beside} |")
    # Each width once: a second one would come from the cache.
    identity, widths = made(photo), iter(range(200, 300))
    print(f"| thumbnail of the page of a photo of 12 megapixels | {_median(lambda: _run('curl', '-sf', '-o', '/dev/null', f'{base}/documents/{identity}/thumbnail?width={next(widths)}'))} | |")
    print(f"\nserver: {larder.resident_mb(peak=True):.0f} MB resident at the peak")
    larder.stop()
