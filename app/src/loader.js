// Makes the islands of the page live; a page without any loads no program.
const root = document.documentElement;
if (document.querySelector("leptos-island")) {
  const [glue, module] = [root.dataset.glue, root.dataset.module];
  // Both at once: neither waits for the other.
  const bytes = fetch(module);
  const program = await import(glue);
  await program.default({ module_or_path: bytes });
  window.hydrateIslands = () => {
    for (const island of document.querySelectorAll("leptos-island:not([data-live])")) {
      island.dataset.live = "";
      program[island.dataset.component](island);
    }
    // Another view of the page is there.
    dispatchEvent(new Event("pageshow"));
  };
  hydrateIslands();
}
// For scripts from outside: controls work now.
root.dataset.hydrated = "";
