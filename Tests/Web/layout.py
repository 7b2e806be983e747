"""What axe does not see: pages wider than the window, targets too small, names and places of a page."""
# The innermost elements that reach past the right edge of the window, if the page can be scrolled there. What is inside
# of something that scrolls by itself does not make the page wider.
WIDER = """() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const clipped = element => element && element !== document.body
        && (getComputedStyle(element).overflowX !== 'visible' || clipped(element.parentElement));
    const wide = [...document.querySelectorAll('body *:not(svg *)')]
        .filter(element => element.getBoundingClientRect().right > width + 1 && !clipped(element.parentElement));
    return wide.filter(element => !wide.some(other => other !== element && element.contains(other))).slice(0, 4)
        .map(element => `${element.outerHTML.slice(0, 100)}: ${Math.round(element.getBoundingClientRect().right)}`);
}"""
# Texts, pictures and controls that reach past the window, or past something that cuts off what is outside of it. What
# scrolls by itself shows its rest, but for the ways to other screens; a map shows a part of the world; a text of so
# many lines ends where it should.
CUT = """() => {
    const canvas = document.createElement('canvas').getContext('2d');
    const said = element => element.outerHTML.slice(0, 100);
    const scrolls = value => value === 'auto' || value === 'scroll';
    const clips = value => value === 'hidden' || value === 'clip';
    const inSight = element => {
        const sight = {left: 0, right: document.documentElement.clientWidth, bottom: Infinity};
        for (let one = element; one && one !== document.body; one = one.parentElement) {
            const {overflowX, overflowY, webkitLineClamp, position} = getComputedStyle(one);
            const box = one.getBoundingClientRect();
            const isWay = one.localName === 'nav';
            if (scrolls(overflowX) && one.scrollWidth > one.clientWidth && !isWay) return null;
            if (clips(overflowX) || isWay) Object.assign(sight, {left: Math.max(sight.left, box.left),
                right: Math.min(sight.right, box.right)});
            if (clips(overflowY) && webkitLineClamp === 'none') sight.bottom = Math.min(sight.bottom, box.bottom);
            if (position === 'fixed') break;
        }
        return sight;
    };
    const skipped = element => element.closest('larder-map, .skip, option, svg')
        || !element.checkVisibility({visibilityProperty: true, opacityProperty: true})
        || (function hidden(one) { return one && (getComputedStyle(one).clipPath !== 'none'
            || hidden(one.parentElement)); })(element);
    const found = [];
    const look = (element, boxes, within = element) => {
        const sight = skipped(element) ? null : inSight(within);
        const clamped = element.closest('.product-title, .product-about, .note-line');
        for (const {left, right, bottom, width} of sight ? boxes : []) {
            if (width < 1) continue;
            if (left < sight.left - 1 || right > sight.right + 1 || (bottom > sight.bottom + 1 && !clamped)) {
                found.push(`${said(element)}: ${[left, right, bottom].map(Math.round)} of ${
                    [sight.left, sight.right, sight.bottom].map(Math.round)}`);
                return;
            }
        }
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        if (texts.currentNode.data.trim() === '') continue;
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        look(texts.currentNode.parentElement, [...range.getClientRects()]);
    }
    for (const element of document.querySelectorAll('a, button, input, select, textarea, img, canvas, progress')) {
        look(element, [element.getBoundingClientRect()], element.parentElement);
    }
    // What is chosen in a list, or asked for in a field, is no text of the page.
    for (const element of document.querySelectorAll('select, input[placeholder]')) {
        if (skipped(element)) continue;
        const {appearance, font, paddingLeft, paddingRight} = getComputedStyle(element);
        const text = element.value && element.localName === 'input' ? '' : element.placeholder
            ?? element.selectedOptions[0]?.text ?? '';
        canvas.font = font;
        // A sign of the page's own is in the padding.
        const sign = element.localName === 'select' && appearance !== 'none' ? 16 : 0;
        const room = element.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - sign;
        if (canvas.measureText(text).width > room + 1) found.push(`${said(element)}: “${text}” in ${room} px`);
    }
    return found;
}"""
# Controls that are smaller than a size. A link inside of a sentence is as high as its line (WCAG 2.5.8).
SMALLER = """([selector, size]) => {
    const shown = element => element.checkVisibility({visibilityProperty: true, opacityProperty: true})
        && element.getClientRects().length > 0 && !element.closest('[inert], .visually-hidden');
    const inSentence = element => element.matches('a') && getComputedStyle(element).display === 'inline'
        && element.closest('p, li, dd, td, figcaption, footer')?.textContent.trim() !== element.textContent.trim();
    return [...document.querySelectorAll(selector)].filter(shown).filter(element => !inSentence(element))
        .map(element => {
            // A label around a control is part of its target.
            const label = element.closest('label') ?? element;
            const [one, two] = [element.getBoundingClientRect(), label.getBoundingClientRect()];
            return {element, width: Math.max(one.width, two.width), height: Math.max(one.height, two.height)};
        })
        .filter(({width, height}) => width > 1 && height > 1 && (width < size - 0.5 || height < size - 0.5))
        .map(({element, width, height}) => `${element.outerHTML.slice(0, 100)}: ${width} × ${height}`);
}"""
CONTROLS = "a[href], button, input:not([type=hidden]):not([type=file]), select, textarea, summary, [role=button]"
# What a person presses most: the apps, the main button of a screen, the buttons of a dialog.
MAIN = ".nav a, .tabs a, button.primary, a.button.primary, .dialog-actions button"
# Controls that stay below something fixed, even after the page was scrolled to them.
COVERED = """selector => [...(document.querySelector('dialog[open]') ?? document)
  .querySelectorAll(selector)].flatMap(element => {
    if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true}) || element.disabled) return [];
    if (getComputedStyle(element).position === 'fixed' || element.closest('nav, header, [popover]')) return [];
    element.scrollIntoView({block: 'nearest', behavior: 'instant'});
    const {left, top, width, height} = element.getBoundingClientRect();
    if (width < 2 || height < 2) return [];
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    if (!found || element.contains(found) || found.contains(element)) return [];
    if (found.closest('label')?.contains(element)) return [];
    return [`${element.outerHTML.slice(0, 120)} below ${found.outerHTML.slice(0, 120)}`];
})"""
# Below an open dialog nothing can be read.
STRUCTURE = """() => ({
    headings: [...(document.querySelector('dialog[open]') ?? document).querySelectorAll('h1')]
        .filter(one => one.checkVisibility()).map(one => one.textContent.trim()),
    mains: document.querySelectorAll('main').length,
    navigations: [...document.querySelectorAll('nav')].map(one => one.getAttribute('aria-label')),
    title: document.title, language: document.documentElement.lang,
    live: [...document.querySelectorAll('[role=status], [aria-live=polite]')].length,
})"""


def wider(page):
    """The elements that make a page scroll sideways."""
    found = page.evaluate(WIDER)
    width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return found or ([f"{width[0]} px of {width[1]} px"] if width[0] > width[1] else [])


def cut(page):
    """What a person sees a part of, and cannot scroll to the rest."""
    return wider(page) + page.evaluate(CUT)[:6]


def smaller(page, size=24, selector=CONTROLS):
    return page.evaluate(SMALLER, [selector, size])[:6]


def enlarge_text(page, percent):
    """Text as large as a person sets it in the browser."""
    page.evaluate("percent => { document.documentElement.style.fontSize = `${percent}%`; }", percent)


def structure(page):
    return page.evaluate(STRUCTURE)


def covered(page, selector=CONTROLS):
    return page.evaluate(COVERED, selector)[:6]
