"""Draws tables as SVG pictures, which are legible on a light and on a dark page."""
import html, math

COLOURS = ["#2f81f7", "#d4772b", "#3fa66b", "#b05fd0", "#c94f6d", "#8a8f98"]
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600; font-size: 15px } .faint { fill: #6e7781 } .rule { stroke: #8b949e; stroke-opacity: .4 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .faint { fill: #9198a1 } }
</style>"""


def _text(x, y, text, anchor="start", kind="plain"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" class="{kind}">{html.escape(str(text))}</text>'


def _write(path, width, height, title, parts):
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{html.escape(title)}">\n{STYLE}\n')
        file.write("\n".join(parts) + "\n</svg>\n")


def _legend(names, y):
    parts, x = [], 16
    for name, colour in zip(names, COLOURS):
        parts += [f'<rect x="{x}" y="{y - 10}" width="11" height="11" rx="2" fill="{colour}"/>', _text(x + 16, y, name)]
        x += round(34 + 7.4 * len(name))
    return parts


def bars(path, title, unit, names, groups):
    """`groups` are pairs of a label and the values of `names`, None for what was not measured."""
    left, right, bar, gap, width = 250, 80, 17, 14, 760
    scale = (width - left - right) / max(value for _, values in groups for value in values if value is not None)
    parts, y = [_text(16, 24, f"{title}: {unit}", kind="title")] + _legend(names, 48), 66
    for label, values in groups:
        parts.append(_text(left - 10, y + len(values) * bar / 2 + 4, label, "end"))
        for value, colour in zip(values, COLOURS):
            if value is not None:
                parts.append(f'<rect x="{left}" y="{y}" width="{max(1, value * scale):.1f}" height="{bar - 3}" rx="2" fill="{colour}"/>')
                parts.append(_text(left + value * scale + 6, y + 11, f"{value:.1f}" if value < 100 else f"{value:.0f}", kind="faint"))
            y += bar
        y += gap
    _write(path, width, y + 4, title, parts)


def lines(path, title, unit, counts, series):
    """`series` maps names to a value for each of `counts`; both axes are logarithmic."""
    width, left, right, top, bottom = 780, 64, 300, 44, 44
    height = max(400, top + bottom + 17 * len(series))
    values = [value for line in series.values() for value in line]
    low, high = (math.floor(math.log10(min(values)) * 3) / 3, math.ceil(math.log10(max(values)) * 3) / 3)
    high = max(high, low + 1)

    def x(count):
        return left + math.log10(count / counts[0]) / max(1e-9, math.log10(counts[-1] / counts[0])) * (width - left - right)

    def y(value):
        return height - bottom - (math.log10(value) - low) / (high - low) * (height - top - bottom)

    parts = [_text(16, 24, f"{title}: {unit}", kind="title")]
    for exponent in range(math.floor(low), math.ceil(high) + 1):
        for factor in (1, 2, 5):
            value = factor * 10.0 ** exponent
            if low <= math.log10(value) <= high:
                parts += [f'<line x1="{left}" x2="{width - right}" y1="{y(value):.1f}" y2="{y(value):.1f}" class="rule"/>', _text(left - 8, y(value) + 4, f"{value:g}", "end", "faint")]
    for count in counts:
        parts.append(_text(x(count), height - bottom + 20, f"{count:,}", "middle", "faint"))
    parts.append(_text((left + width - right) / 2, height - 6, "rows", "middle", "faint"))
    places, last = {}, 0
    for place, name in sorted((y(line[-1]), name) for name, line in series.items()):
        last = places[name] = max(place, last + 16)
    over = max(0, last - (height - bottom))
    for (name, line), colour in zip(series.items(), COLOURS * 8):
        points = [(x(count), y(value)) for count, value in zip(counts, line)]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        end, place = points[-1], places[name] - over
        parts.append(f'<line x1="{end[0] + 4:.1f}" y1="{end[1]:.1f}" x2="{end[0] + 24:.1f}" y2="{place:.1f}" stroke="{colour}"/>')
        parts.append(_text(end[0] + 28, place + 4, f"{name} ({line[-1]:.2f})"))
    _write(path, width, height, title, parts)
