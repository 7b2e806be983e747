"""Rules of accessibility that axe-core checks in a page, light and dark."""
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Error

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
SCHEMES = ["light", "dark"]
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# What looks different below a pointer, pressed, or with the focus; of long lists the first rows.
STATEFUL = (":is(a, button, input, select, textarea, summary, .row, .home-card, .product, [role=option])"
            ":not(ul > :nth-child(n + 5), ul > :nth-child(n + 5) *)")
STATES = ["hover", "active", "focus", "focus-visible"]
# A list that is read again is paler for a moment, so what was looked at meanwhile is looked at once more.
RUN = """async runOnly => {
    let wasBusy = true;
    const observer = new MutationObserver(() => { wasBusy = true; });
    observer.observe(document, {subtree: true, attributes: true, attributeFilter: ['aria-busy']});
    for (let results, left = 5; ; left -= 1) {
        while (document.querySelector('[aria-busy=true]:not(button)')) await new Promise(requestAnimationFrame);
        wasBusy = false;
        results = await axe.run(document, {runOnly, resultTypes: ['violations']});
        await null;
        if (wasBusy && left > 0 && results.violations.length) continue;
        observer.disconnect();
        return results.violations.map(({id, help, nodes}) => `${id}: ${help}\\n` + nodes.slice(0, 5)
            .map(node => `    ${node.html}\\n    ${node.failureSummary}`).join('\\n'));
    }
}"""
STILL = "Promise.all(document.getAnimations().map(animation => animation.finished.catch(() => {})))"


def violations(page, run_only=TAGS):
    """What a page breaks, each with the elements and why; a page that is still being animated is waited for. What has
    nothing to do with colours is the same light and dark."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    own, other = SCHEMES if page.evaluate("matchMedia('(prefers-color-scheme: light)').matches") else SCHEMES[::-1]
    found = {}
    for scheme, rules in [(other, COLOURS), (own, run_only)]:
        page.emulate_media(color_scheme=scheme)
        page.evaluate(STILL)
        for fault in page.evaluate(RUN, rules):
            found.setdefault(fault, []).append(scheme)
    return [f"{fault}\n    only {schemes[0]}" if len(schemes) == 1 and fault.startswith(tuple(COLOURS["values"]))
            else fault for fault, schemes in found.items()]


def pale(page):
    """Texts that are too pale below a pointer, pressed, or with the focus: all controls of a page at once."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    for node in session.send("DOM.querySelectorAll", {"nodeId": root, "selector": STATEFUL})["nodeIds"]:
        try:
            session.send("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": STATES})
        except Error as error:
            # It was drawn anew meanwhile.
            assert "Could not find node" in str(error), error
    found = violations(page, COLOURS)
    session.detach()
    return found


def check(page):
    found = violations(page)
    assert not found, f"{page.url}:\n" + "\n".join(found)
