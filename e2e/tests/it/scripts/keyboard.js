// What a reader with a keyboard meets on a page; see keyboard.rs.
window.keyboard = (() => {
    const kinds = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]';
    const stops = () => [...document.querySelectorAll(kinds)].filter(element =>
        element.tabIndex >= 0 && !element.disabled && !element.closest('[inert]') &&
        element.checkVisibility({visibilityProperty: true}));
    const name = element => {
        const words = element.getAttribute('aria-label') ?? element.textContent.trim().replace(/\s+/g, ' ') ?? '';
        const mark = element.id ? '#' + element.id : [...element.classList].map(c => '.' + c).join('');
        return `${element.localName}${mark} "${words.slice(0, 40)}"`;
    };
    // Everything of an element that may tell that it has the focus.
    const looks = element => {
        const parts = [element, ...element.querySelectorAll('.mark-ring')];
        return parts.map(part => {
            const style = getComputedStyle(part);
            const outline = style.outlineStyle === 'none' ? '' : style.outlineWidth + style.outlineColor;
            return [outline, style.boxShadow, style.visibility].join();
        }).join();
    };
    // Whether a part of it can be seen: neither outside the window nor behind
    // something that stays in its place.
    const inSight = element => [...element.getClientRects()].some(rect => {
        const points = [[.5, .5], [.1, .2], [.9, .2], [.1, .8], [.9, .8]];
        return points.some(([x, y]) => {
            const hit = document.elementFromPoint(rect.left + rect.width * x, rect.top + rect.height * y);
            return hit !== null && (element.contains(hit) || hit.contains(element) && hit.matches('label, svg, g'));
        });
    });
    let all = [], before = new Map();
    return {
        // To be called first, with the focus nowhere.
        learn() {
            all = stops();
            before = new Map(all.map(element => [element, looks(element)]));
            return all.map(name);
        },
        // Which stop has the focus, and what is wrong with it.
        here() {
            const element = document.activeElement;
            if (element === document.body || element === document.documentElement) return [-1, '', ''];
            const wrong = [];
            // Chromium lets boxes that scroll be focused by themselves.
            const known = before.has(element);
            if (known && looks(element) === before.get(element)) wrong.push('looks as without the focus');
            if (!inSight(element)) wrong.push('is out of sight');
            return [known ? all.indexOf(element) : -2, name(element), wrong.join(' and ')];
        },
    };
})();
