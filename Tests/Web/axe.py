"""Rules of accessibility that axe-core checks in a page."""
from axe_playwright_python.base import AXE_SCRIPT

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
# A list that is read again is paler for a moment, so what was looked at meanwhile is looked at once more.
RUN = """async tags => {
    let wasBusy = true;
    const observer = new MutationObserver(() => { wasBusy = true; });
    observer.observe(document, {subtree: true, attributes: true, attributeFilter: ['aria-busy']});
    for (let results; ; ) {
        while (document.querySelector('[aria-busy=true]:not(button)')) await new Promise(requestAnimationFrame);
        wasBusy = false;
        results = await axe.run(document, {runOnly: tags, resultTypes: ['violations']});
        await null;
        if (wasBusy && results.violations.length) continue;
        observer.disconnect();
        return results.violations.map(({id, help, nodes}) => `${id}: ${help}\\n` + nodes.slice(0, 5)
            .map(node => `    ${node.html}\\n    ${node.failureSummary}`).join('\\n'));
    }
}"""


def violations(page):
    """What a page breaks, each with the elements and why; a page that is still being animated is waited for."""
    page.evaluate("Promise.all(document.getAnimations().map(animation => animation.finished.catch(() => {})))")
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(RUN, TAGS)


def check(page):
    found = violations(page)
    assert not found, f"{page.url}:\n" + "\n".join(found)
