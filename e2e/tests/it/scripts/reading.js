// What a reader meets who has made the text larger or the window smaller; see
// reading.rs. Each gives a list of what is wrong.
window.reading = (() => {
    const name = element => {
        const mark = [...element.classList].map(c => '.' + c).join('');
        return `${element.localName}${mark} "${element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40)}"`;
    };
    const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
    const readAloud = element => element.closest('.visually-hidden, .hatching, thead, caption') !== null;
    return {
        // What reaches out of the window, but for what is inside a box that scrolls.
        sideways() {
            const width = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= width) return [];
            const out = [...document.body.querySelectorAll('*')].filter(element => {
                if (element.getBoundingClientRect().right <= width + 1 || readAloud(element)) return false;
                for (let box = element.parentElement; box; box = box.parentElement) if (scrolls(box)) return false;
                return true;
            });
            return ['the page scrolls sideways', ...out.slice(0, 8).map(name)];
        },
        // Text that is cut off by its own box, where that box does not scroll.
        cutOff() {
            const boxes = [...document.body.querySelectorAll('*')].filter(element => {
                if (element instanceof SVGElement || readAloud(element) || !element.checkVisibility()) return false;
                const style = getComputedStyle(element);
                const hides = [style.overflowX, style.overflowY].some(o => o === 'hidden' || o === 'clip');
                // What ends in an ellipsis is said in full by a title, or where it leads.
                const elsewhere = style.textOverflow === 'ellipsis'
                    && (element.closest('[title], a[href]') ?? element.querySelector('a[href]')) !== null;
                return hides && !elsewhere && element.textContent.trim() !== '';
            });
            return boxes.filter(box =>
                box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 2).map(box => `${name(box)} is cut off`);
        },
        // WCAG 1.4.12, as a reader's own style sheet would have it.
        spaceOut() {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
                               p { margin-bottom: 2em !important; }`);
            document.adoptedStyleSheets = [sheet];
        },
        // What still moves.
        moving() {
            const seconds = times => Math.max(...times.split(',').map(parseFloat));
            const moves = (element, pseudo) => {
                const style = getComputedStyle(element, pseudo);
                return style.animationName !== 'none' && seconds(style.animationDuration) > 0.01
                    || seconds(style.transitionDuration) > 0.01 || style.scrollBehavior === 'smooth';
            };
            const all = [document.documentElement, ...document.body.querySelectorAll('*')];
            return all.filter(e => moves(e, null) || moves(e, '::before') || moves(e, '::after')).slice(0, 8).map(e => `${name(e)} moves`);
        },
        // Where the system chooses the colours: controls without an edge,
        // chosen ones that look like the others, bars one cannot see.
        colourless() {
            const canvas = getComputedStyle(document.body).backgroundColor;
            const wrong = [];
            for (const control of document.querySelectorAll('button, .button, input, select'))
                if (control.checkVisibility() && control.type !== 'hidden' && !['range', 'checkbox'].includes(control.type)
                    && getComputedStyle(control).borderTopStyle === 'none' && getComputedStyle(control).textDecorationLine === 'none') wrong.push(`${name(control)} has no edge`);
            for (const chosen of document.querySelectorAll('.choices-links [aria-current]')) {
                if (['rgba(0, 0, 0, 0)', canvas].includes(getComputedStyle(chosen).backgroundColor))
                    wrong.push(`${name(chosen)} does not look chosen`);
            }
            for (const bar of document.querySelectorAll('.score-fill, .meter-fill'))
                if (bar.checkVisibility() && [canvas, 'none'].includes(getComputedStyle(bar).fill)) wrong.push(`${name(bar)} cannot be seen`);
            return wrong;
        },
    };
})();
