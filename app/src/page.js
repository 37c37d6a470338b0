// What every page needs of a script, and no program: theme, popups, tips.
(root => {
  root.dataset.js = "";
  const stored = (name, set) => {
    // Without storage, a choice holds for this page.
    try { return set ? localStorage.setItem(`swe-ci-${name}`, set) : localStorage.getItem(`swe-ci-${name}`); } catch {}
  };
  // Before the first paint, so that a stored choice applies without a flash.
  const theme = stored("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  root.dataset.chart = stored("chart") === "beside" ? "beside" : "below";

  addEventListener("click", event => {
    if (!event.target.closest(".chart-switch")) return;
    stored("chart", root.dataset.chart = root.dataset.chart === "below" ? "beside" : "below");
  });
  // The slider moves the field, also where the program that ranks is missing.
  addEventListener("input", event => {
    if (event.target.id === "gamma") document.getElementById("gamma-exact").value = event.target.value;
  });

  addEventListener("click", event => {
    if (!event.target.closest(".theme-switch")) return;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    stored("theme", root.dataset.theme = dark ? "light" : "dark");
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

  // How many rows are ticked for a comparison, which takes two to six.
  const ticked = () => {
    const bar = document.querySelector(".compare-bar");
    if (!bar) return;
    const count = document.querySelectorAll(".pick:checked").length;
    bar.querySelector(".compare-count").textContent = count ? `${count} selected` : "";
    bar.querySelector("button").disabled = count < 2 || count > 6;
  };
  addEventListener("change", event => {
    if (!event.target.matches?.(".pick")) return;
    // Their lines have a colour too.
    const line = event.target.closest("tr").dataset.line;
    for (const part of document.querySelectorAll(`svg [data-line="${line}"]`)) {
      part.classList.toggle("is-chosen", event.target.checked);
    }
    ticked();
  });
  // Back from the comparison, rows are ticked already.
  addEventListener("pageshow", ticked);
})(document.documentElement);
