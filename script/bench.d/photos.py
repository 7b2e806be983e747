"""Pictures to one document beside img2pdf: how long photos take, and how large lossless pictures become. Both may use all cores: Larder decodes each
photo, so that a broken one is refused, and puts the result on the disk; img2pdf copies the photos as they are."""
import json, os, shutil, subprocess, time

from larder import Larder
from processes import ALL_CORES

PHOTOS = 10


def vips(*command):
    subprocess.run(["vips", *command], check=True)


def twelve_megapixels(folder, kind):
    """Photos of twelve megapixels, made of noise: grey ones of two megabytes, colours of five."""
    for number in range(PHOTOS):
        bands = [f"{folder}/noise-{band}.v" for band in range(1 if kind == "grey" else 3)]
        for band, path in enumerate(bands):
            vips("gaussnoise", path, "500", "375", "--sigma", "60", "--mean", "128", "--seed", str(10 * number + band))
        small, large = f"{folder}/small.v", f"{folder}/{kind}-{number}.jpg"
        vips("bandjoin", " ".join(bands), small)
        vips("copy", small, f"{folder}/coloured.v", "--interpretation", "b-w" if kind == "grey" else "srgb")
        vips("resize", f"{folder}/coloured.v", f"{large}[Q=85]", "8")
        yield large


def lossless(folder, photo):
    """Pictures of every kind that PDF cannot hold as their files have them, and some that it can."""
    base, grey = f"{folder}/base.png", f"{folder}/grey.png"
    vips("thumbnail", photo, f"{folder}/base.v", "1200")
    vips("copy", f"{folder}/base.v", base)
    vips("colourspace", base, grey, "b-w")
    vips("copy", base, f"{folder}/interlaced.png[interlace]")
    vips("copy", grey, f"{folder}/grey-interlaced.png[interlace]")
    vips("copy", base, f"{folder}/plain.tif")
    vips("copy", base, f"{folder}/palette.gif")
    vips("copy", base, f"{folder}/lossless.webp[lossless]")
    vips("colourspace", base, f"{folder}/deep.png", "rgb16")
    return [f"{folder}/{name}" for name in ("base.png", "grey.png", "deep.png", "interlaced.png", "grey-interlaced.png", "plain.tif", "palette.gif", "lossless.webp")]


def alternating(works, rounds):
    """The shortest and the median time of each work, which take turns."""
    times = [[] for _ in works]
    for _ in range(rounds):
        for work, own in zip(works, times):
            begin = time.monotonic()
            work()
            own.append(time.monotonic() - begin)
    return [(min(own), sorted(own)[len(own) // 2]) for own in times]


def photos(executable, folder, sandbox, rounds):
    larder = Larder(executable, f"{folder}/photos", sandbox, core=ALL_CORES)
    base, pdf = f"{larder.base}/v1/pdf/documents", f"{folder}/img2pdf.pdf"
    is_compared = shutil.which("img2pdf")
    if not is_compared:
        print("\nimg2pdf is not installed (pip install img2pdf): its columns are empty")

    def run(*command):
        return subprocess.run(command, check=True, capture_output=True).stdout

    def made(*files):
        return json.loads(run("curl", "-sf", base, *[part for file in files for part in ("-F", f"files=@{file}")]))["data"]["href"]

    print("\n| ten photos of 12 megapixels | larder ms (fastest) | img2pdf ms (fastest) | ratio |\n|---|---|---|---|")
    for kind in ("grey", "colour"):
        files = list(twelve_megapixels(folder, kind))
        works = [lambda: made(*files)] + ([lambda: run("img2pdf", *files, "-o", pdf)] if is_compared else [])
        found = alternating(works, rounds)
        cells = [f"{median * 1000:.0f} ({least * 1000:.0f})" for least, median in found] + ["", ""]
        ratio = f"{found[0][1] / found[1][1]:.2f}" if is_compared else ""
        print(f"| {kind}, {sum(map(os.path.getsize, files)) >> 20} MiB | {cells[0]} | {cells[1]} | {ratio} |")
    print("\n| lossless picture | larder bytes | img2pdf bytes | ratio |\n|---|---|---|---|")
    for file in lossless(folder, files[0]):
        own = len(run("curl", "-sf", larder.base + made(file) + "/file"))
        other = ""
        if is_compared:
            run("img2pdf", file, "-o", pdf)
            other = os.path.getsize(pdf)
        print(f"| {os.path.basename(file)} | {own} | {other} | {f'{own / other:.2f}' if other else ''} |")
    larder.stop()
