"""How long photos take to a document beside img2pdf, a merge beside qpdf, and a thumbnail; and what the server needs for them."""
import json, shutil, statistics, subprocess, time

from larder import Larder, call

PHOTOS, PAGES = 10, 100


def _photos(folder):
    """Photos of twelve megapixels, made of noise, some two megabytes each."""
    for number in range(PHOTOS):
        small, large = f"{folder}/small-{number}.v", f"{folder}/photo-{number}.jpg"
        subprocess.run(["vips", "gaussnoise", small, "500", "375", "--sigma", "60", "--mean", "128", "--seed", str(number)], check=True)
        subprocess.run(["vips", "resize", small, f"{large}[Q=85]", "8"], check=True)
        yield large


def _pages(path, name):
    """A document of so many pages with a line of text each."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{' '.join(f'{3 + 2 * i} 0 R' for i in range(PAGES))}] /Count {PAGES} >>"]
    for number in range(PAGES):
        stream = f"BT /F1 24 Tf 72 700 Td ({name}, page {number}) Tj ET"
        font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {4 + 2 * number} 0 R /Resources {font} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    text, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(text))
        text += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    with open(path, "w") as file:
        file.write(text + end)
    return path


def _median(work, rounds=5):
    times = []
    for _ in range(rounds):
        begin = time.monotonic()
        work()
        times.append(time.monotonic() - begin)
    return f"{statistics.median(times):.2f}"


def _run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def documents(executable, folder, sandbox):
    larder = Larder(executable, f"{folder}/documents", sandbox)
    base = f"{larder.base}/v1/pdf"

    def made(*files):
        parts = [part for file in files for part in ("-F", f"files=@{file}")]
        return json.loads(_run("curl", "-sf", f"{base}/documents", *parts))["data"]["href"].rsplit("/", 1)[1]

    def saved(file):
        identity = made(file)
        call("POST", f"{base}/documents/{identity}/save", {})
        return identity

    photos = list(_photos(folder))
    beside = _median(lambda: _run("img2pdf", *photos, "-o", f"{folder}/photos.pdf")) if shutil.which("img2pdf") else "not installed"
    print(f"\n| documents | larder s | beside |\n|---|---|---|\n| {PHOTOS} photos of 12 megapixels | {_median(lambda: made(*photos))} | img2pdf {beside} |")
    one, two = _pages(f"{folder}/one.pdf", "one"), _pages(f"{folder}/two.pdf", "two")
    merge = {"first": saved(one), "second": saved(two)}
    beside = _median(lambda: _run("qpdf", "--empty", "--pages", one, two, "--", f"{folder}/merged.pdf"))
    print(f"| merge of two documents of {PAGES} pages | {_median(lambda: call('POST', f'{base}/merge', merge))} | qpdf {beside} |")
    # Each width once: a second one would come from the cache.
    identity, widths = made(photos[0]), iter(range(200, 300))
    print(f"| thumbnail of such a photo's page | {_median(lambda: _run('curl', '-sf', '-o', '/dev/null', f'{base}/documents/{identity}/thumbnail?width={next(widths)}'))} | |")
    print(f"\nserver: {larder.resident_mb(peak=True):.0f} MB resident at the peak")
    larder.stop()
