// The page of a study, or the list of studies, made from the state: all text goes in as text.

const EVERY = 1000;
const SECTIONS = [
  ["recommendation", "What to use"], ["figures", "Figures"], ["next", "What comes next"], ["pending", "Pending"],
  ["trials", "Trials"], ["settings", "Settings"], ["provenance", "Provenance"],
];

function element(tag, attributes, text) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function clipped(text, most) {
  const letters = Array.from(String(text));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : String(text);
}

function written(part) {
  const made = (part.text || []).map((sentence) => element("p", { dir: "auto" }, sentence));
  if (part.tables?.length) {
    const tables = element("div", { class: "tables" });
    tables.append(...part.tables.map(listed));
    made.push(tables);
  }
  return made;
}

function listed(given) {
  const box = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": given.caption });
  const table = element("table", { class: given.plain ? "plain" : "" });
  table.append(element("caption", {}, given.caption));
  if (given.head.length) {
    const head = element("thead");
    const row = element("tr");
    for (const name of given.head) row.append(element("th", { scope: "col", dir: "auto" }, clipped(name, 80)));
    head.append(row);
    table.append(head);
  }
  const body = element("tbody");
  for (const cells of given.rows) {
    const row = element("tr");
    cells.forEach((cell) => {
      const text = clipped(shownCell(cell), 1000);
      const kind = typeof cell === "number" ? "number" : text.length > 40 ? "long" : "";
      row.append(element("td", { dir: "auto", class: kind }, text));
    });
    body.append(row);
  }
  table.append(body);
  box.append(table);
  return box;
}

class Page {
  constructor(root) {
    this.title = element("h1", { dir: "auto" });
    this.live = element("p", { class: "live", role: "status" });
    this.theme = element("button", { type: "button" });
    this.theme.addEventListener("click", () => this.paint(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    const top = element("div", { class: "top" });
    const name = element("div");
    name.append(this.title, this.live);
    top.append(name, this.theme);
    this.main = element("main", { id: "main" });
    const skip = element("a", { href: "#main", class: "skip" }, "Skip to the study");
    root.append(skip, top, this.main);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.paint(dark.matches ? "dark" : "light"));
    this.paint(dark.matches ? "dark" : "light");
  }

  paint(theme) {
    document.documentElement.dataset.theme = theme;
    this.theme.textContent = theme === "dark" ? "Light colors" : "Dark colors";
    if (this.figures) this.figures.repaint();
  }

  // The parts of a study's page, made once.
  build() {
    this.found = element("section", { class: "found", "aria-label": "What was found" });
    const links = element("nav", { "aria-label": "Contents" });
    this.main.replaceChildren(this.found, links);
    this.parts = {};
    for (const [id, title] of SECTIONS) {
      const section = element("section", { id, "aria-labelledby": `${id}-title` });
      section.append(element("h2", { id: `${id}-title` }, title));
      this.main.append(section);
      links.append(element("a", { href: `#${id}` }, title));
      this.parts[id] = section;
    }
    this.table = new TrialTable(this.parts.trials);
    this.figures = new Figures(this.parts.figures, (id) => this.table.reveal(id));
    this.note = element("p", { class: "note" });
    this.parts.figures.querySelector("h2").after(this.note);
    this.made = element("p", { class: "made" });
    this.main.append(this.made);
  }

  study(state) {
    if (!this.table) this.build();
    document.title = this.title.textContent = state.title;
    this.found.replaceChildren(...written(state.found));
    for (const id of ["recommendation", "next", "pending", "settings", "provenance"]) {
      const heading = this.parts[id].querySelector("h2");
      const held = this.parts[id].contains(document.activeElement);
      this.parts[id].replaceChildren(heading, ...written(state[id] || {}));
      if (held) this.parts[id].querySelector("[tabindex]")?.focus();
    }
    this.note.textContent = state.note || "";
    this.table.update(state.trials, state.best, state.file);
    this.figures.update(state.figures, state.trials);
    this.made.textContent = state.made;
  }

  list(state) {
    document.title = this.title.textContent = state.title;
    const list = element("ul", { class: "studies" });
    for (const study of state.studies) {
      const item = element("li");
      const head = element("h2", { dir: "auto" });
      head.append(element("a", { href: study.href }, study.name));
      item.append(head, ...study.text.map((line) => element("p", { dir: "auto" }, line)));
      list.append(item);
    }
    this.main.replaceChildren(...state.text.map((line) => element("p", {}, line)), list);
  }

  render(state) {
    if (state.studies) this.list(state); else this.study(state);
  }

  // Ask for the state again and again; an answer of 304 says that nothing has changed.
  async follow(url) {
    let tag = "";
    for (;;) {
      try {
        const answer = await fetch(url, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
        if (answer.status === 200) {
          tag = answer.headers.get("ETag");
          this.render(await answer.json());
        }
        const ok = answer.status === 200 || answer.status === 304;
        this.tell(ok ? "Live: results appear as they come in." : clipped(await answer.text(), 300), !ok);
      } catch (error) {
        this.tell("The connection is lost. This is the study as it was; the page goes on asking.", true);
      }
      await new Promise((done) => setTimeout(done, EVERY));
    }
  }

  tell(text, lost) {
    if (this.live.textContent !== text) this.live.textContent = text;
    this.live.classList.toggle("lost", lost);
  }
}

const given = JSON.parse(document.getElementById("state").textContent);
const page = new Page(document.getElementById("page"));
if (given.follow) page.follow(given.follow); else page.render(given);
performance.mark("shown");
