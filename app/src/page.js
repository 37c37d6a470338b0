// What every page needs of a script, and no program: theme, popups, tips.
(root => {
  root.dataset.js = "";
  const stored = (set) => {
    // Without storage, a choice holds for this page.
    try { return set ? localStorage.setItem("swe-ci-theme", set) : localStorage.getItem("swe-ci-theme"); } catch {}
  };
  // Before the first paint, so that a stored theme applies without a flash.
  const theme = stored();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  addEventListener("click", event => {
    if (!event.target.closest(".theme-switch")) return;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    stored(root.dataset.theme = dark ? "light" : "dark");
  });

  // Escape closes the open popup and gives the focus back to its opener. It also
  // hides tips, until the pointer or the focus is somewhere else.
  addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    root.dataset.hushed = "";
    const popup = document.querySelector("details[data-popup][open]");
    if (popup) {
      popup.open = false;
      popup.querySelector("summary").focus();
    }
  });
  // A heading that was clicked would cover the first row with its explanation.
  addEventListener("click", event => {
    if (event.target.closest?.(".head")) root.dataset.hushed = "";
  });
  const shows = (name, tipped) => addEventListener(name, event => {
    const place = event.target.closest?.(tipped);
    if (place && !place.contains(event.relatedTarget)) delete root.dataset.hushed;
  });
  shows("focusin", ".term, .mark");
  shows("mouseover", ".term, .picture");
  // A popup never covers the focused element.
  addEventListener("focusout", event => {
    const popup = event.target.closest?.("details[data-popup]");
    if (popup && event.relatedTarget && !popup.contains(event.relatedTarget)) popup.open = false;
  });

  // The address of this site in a citation.
  addEventListener("click", event => {
    if (!event.target.closest?.(".cite > summary")) return;
    for (const site of document.querySelectorAll("[data-site]")) site.textContent = location.origin;
  });

  // How many rows are ticked for a comparison; their lines have a colour too.
  addEventListener("change", event => {
    if (!event.target.matches?.(".pick")) return;
    const line = event.target.closest("tr").dataset.line;
    for (const part of document.querySelectorAll(`svg [data-line="${line}"]`)) {
      part.classList.toggle("is-chosen", event.target.checked);
    }
    const count = document.querySelectorAll(".pick:checked").length;
    document.querySelector(".compare-count").textContent = count ? `${count} selected` : "";
  });
})(document.documentElement);
