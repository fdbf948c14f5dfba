"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const root = document.documentElement;

  // Light or dark: what the system says, until the reader chooses. Storage may be closed to local files.
  const KEY = "advisor-theme";
  const stored = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const store = (value) => { try { localStorage.setItem(KEY, value); } catch { /* the choice lasts until the page closes */ } };
  const chosen = stored();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  const theme = one("#theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store(root.dataset.theme);
  });

  // Copy buttons.
  for (const button of all(".copy")) {
    button.hidden = false;
    const words = button.textContent;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
      }
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = words; }, 1500);
    });
  }

  addEventListener("beforeprint", () => all("details").forEach((part) => { part.open = true; }));

  // What a mark of a chart says is its title; it is shown at once, where browsers wait, and on a touch, where they do not.
  const said = document.createElement("div");
  said.id = "pointed";
  said.hidden = true;
  document.body.append(said);
  const point = (event) => {
    const mark = event.target.closest?.(".chart path, .chart rect");
    if (mark && mark.firstElementChild) { // taken off the mark, or the browser would say it a second time
      mark.dataset.said = mark.firstElementChild.textContent;
      mark.firstElementChild.remove();
    }
    said.hidden = !(mark && mark.dataset.said);
    if (said.hidden) return;
    said.textContent = mark.dataset.said;
    const { clientX: x, clientY: y } = event;
    said.style.left = `${Math.max(Math.min(x + 12, innerWidth - said.offsetWidth - 8), 8)}px`;
    said.style.top = `${y + said.offsetHeight + 24 > innerHeight ? y - said.offsetHeight - 10 : y + 18}px`;
  };
  addEventListener("pointermove", point);
  addEventListener("pointerdown", point);
  addEventListener("scroll", () => { said.hidden = true; }, { passive: true });

  // Search and filters: a finding is its line in the ranking and its card.
  const controls = one("#controls");
  if (!controls) return;
  controls.hidden = false;
  root.classList.add("scripted");
  const search = one("#search"), severity = one("#by-severity"), category = one("#by-category");
  const findings = all(".ranking a").map((link) => {
    const line = link.parentElement, card = document.getElementById(link.dataset.card);
    return { line, card, text: `${line.textContent} ${card.textContent}`.toLowerCase() };
  });
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { line, card, text } of findings) {
      const match = words.every((word) => text.includes(word))
        && (!severity.value || card.dataset.severity === severity.value)
        && (!category.value || card.dataset.category === category.value);
      line.hidden = card.hidden = !match;
      shown += match;
    }
    one("#no-match").hidden = shown > 0;
  };
  controls.addEventListener("input", filter);
  controls.addEventListener("change", filter); // some browsers say only this of a list
  controls.addEventListener("submit", (event) => event.preventDefault());
  filter(); // a browser may restore what was typed before

  // A link to a finding that is filtered away shows it again.
  const reveal = () => {
    const found = findings.find(({ card }) => `#${card.id}` === location.hash);
    if (found && found.card.hidden) {
      search.value = severity.value = category.value = "";
      filter();
      found.card.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);

  // Keys: / search, j and k the next and previous finding, Escape leaves the search.
  const go = (by) => {
    const shown = findings.filter(({ card }) => !card.hidden);
    if (!shown.length) return;
    const here = shown.findIndex(({ card }) => card.contains(document.activeElement));
    const next = here < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(here + by, 0), shown.length - 1);
    shown[next].card.focus({ preventScroll: true });
    shown[next].card.scrollIntoView({ block: "start" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
      return;
    }
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
    else if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
  });
})();
