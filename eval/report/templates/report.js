// The item browser. The light index is parsed at once; pictures, prompts and texts lie gzipped in the page, a few items to a
// block, and are unpacked when an item is opened. Whatever a model or a person wrote enters the page as text, never as HTML.
"use strict";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("index").textContent);
const state = { run: 0, selected: -1, rows: [], words: [] };
const KEPT_BLOCKS = 6;
const ROW = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
const list = byId("list");

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const percent = (fraction) => (100 * fraction).toFixed(1);
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const shortId = (id) => id.split("/").slice(2).join("/");
const grade = (run, n) => (run.exact[n] ? "exact" : run.f1[n] > 0 ? "partial" : "zero");

// Control characters would be invisible; they are shown as Unicode's symbols for them.
const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));

/* Packed data */

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const blocks = new Map();

function block(number) {
  const found = blocks.get(number) ?? unpack(`chunk-${number}`);
  blocks.delete(number);
  blocks.set(number, found);
  if (blocks.size > KEPT_BLOCKS) blocks.delete(blocks.keys().next().value);
  return found;
}

let unpackedTexts = null;
const texts = () => (unpackedTexts ??= unpack("texts"));

/* Filters */

const groups = data.groups.map((group) => new Set(group.items));

function fillSelects() {
  byId("run").append(...data.runs.map((run, n) => el("option", { value: n }, run.name)));
  const select = byId("group");
  select.append(el("option", { value: "" }, "all"));
  for (const name of new Set(data.groups.map((group) => group.name))) {
    const options = data.groups.flatMap((group, n) =>
      group.name === name ? [el("option", { value: n }, `${group.label} (${group.items.length.toLocaleString("en")})`)] : [],
    );
    select.append(el("optgroup", { label: name }, ...options));
  }
}

function fillClasses() {
  const select = byId("class");
  const chosen = select.value;
  const run = data.runs[state.run];
  const counts = data.classes.map(() => 0);
  run.classes.flat().forEach((c) => (counts[c] += 1));
  const exact = run.exact.reduce((sum, one) => sum + one, 0);
  const options = [["", "all"], ["wrong", `not exact (${data.ids.length - exact})`], ["exact", `exact (${exact})`]];
  data.classes.forEach((name, c) => options.push([c, `${name} (${counts[c]})`]));
  select.replaceChildren(...options.map(([value, label]) => el("option", { value }, label)));
  select.value = chosen;
}

function hasClass(run, n, wanted) {
  if (wanted === "") return true;
  if (wanted === "exact" || wanted === "wrong") return Boolean(run.exact[n]) === (wanted === "exact");
  return run.classes[n].includes(Number(wanted));
}

const ORDERS = {
  worst: (run) => (a, b) => run.f1[a] - run.f1[b],
  best: (run) => (a, b) => run.f1[b] - run.f1[a],
  long: (run) => (a, b) => run.wanted[b] - run.wanted[a],
  apart: () => (a, b) => spread(b) - spread(a),
};

function spread(n) {
  const scores = data.runs.map((run) => run.f1[n]);
  return Math.max(...scores) - Math.min(...scores);
}

let waiting = 0;

function filterSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(filter, 120);
}

async function filter() {
  clearTimeout(waiting);
  const run = data.runs[state.run];
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  state.words = words;
  const said = words.length ? await texts() : null;
  if (state.words !== words) return; // A later search overtook this one.
  const wanted = byId("class").value;
  const group = byId("group").value;
  const [low, high] = [byId("low"), byId("high")].map((input) => (input.value === "" ? null : input.valueAsNumber / 100));
  // Shown scores are rounded; with this slack, the range 66.7 to 66.7 finds what is shown as 66.7.
  const slack = 0.0006;
  const rows = data.ids.flatMap((_, n) => {
    if (low !== null && run.f1[n] < low - slack) return [];
    if (high !== null && run.f1[n] > high + slack) return [];
    if (!hasClass(run, n, wanted)) return [];
    if (group !== "" && !groups[group].has(n)) return [];
    return words.every((word) => said[n].includes(word)) ? [n] : [];
  });
  const order = ORDERS[byId("order").value];
  state.rows = order ? rows.sort(order(run)) : rows;
  byId("count").textContent = `${state.rows.length.toLocaleString("en")} of ${plural(data.ids.length, "item")}`;
  byId("space").style.height = `${Math.max(1, state.rows.length) * ROW}px`;
  list.scrollTop = 0;
  drawList(true);
}

/* The list: only the rows that can be seen are in the document */

let drawn = "";

function drawList(force = false) {
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const last = Math.min(state.rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
  const key = `${first}-${last}`;
  if (!force && key === drawn) return;
  drawn = key;
  const shown = [];
  for (let at = first; at < last; at += 1) shown.push(row(at));
  byId("space").replaceChildren(...(shown.length ? shown : [el("p", { class: "none" }, "No item matches.")]));
  markSelected();
}

function row(at) {
  const n = state.rows[at];
  const run = data.runs[state.run];
  const tag = run.exact[n] ? "exact" : run.classes[n].length ? data.classes[run.classes[n][0]] : "";
  const node = el(
    "div",
    { class: "item", role: "option", id: `row-${n}`, "aria-setsize": state.rows.length, "aria-posinset": at + 1, "aria-selected": false },
    el("div", {}, el("span", { class: "said" }, visible(data.snippets[n]) || "(nothing said)"), el("span", { class: grade(run, n) }, percent(run.f1[n]))),
    el("div", { class: "small" }, el("span", { class: "said" }, shortId(data.ids[n])), el("span", {}, tag)),
  );
  node.style.top = `${at * ROW}px`;
  node.addEventListener("click", () => select(n, true));
  return node;
}

function markSelected() {
  for (const node of list.querySelectorAll("[role=option]")) {
    node.setAttribute("aria-selected", node.id === `row-${state.selected}`);
  }
  if (byId(`row-${state.selected}`)) list.setAttribute("aria-activedescendant", `row-${state.selected}`);
  else list.removeAttribute("aria-activedescendant");
}

function showInList(n) {
  const at = state.rows.indexOf(n);
  if (at < 0) return;
  const top = at * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
}

/* Choosing an item */

function select(n, follow = false) {
  state.selected = n;
  showInList(n);
  drawList();
  markSelected();
  const run = state.run ? `&run=${encodeURIComponent(data.runs[state.run].name)}` : "";
  history.replaceState(null, "", `#item=${encodeURIComponent(data.ids[n]).replaceAll("%2F", "/")}${run}`);
  return showDetail(n, follow);
}

function step(by) {
  if (!state.rows.length) return;
  const at = state.rows.indexOf(state.selected);
  const next = at < 0 ? (by > 0 ? 0 : state.rows.length - 1) : Math.min(state.rows.length - 1, Math.max(0, at + by));
  select(state.rows[next], true);
}

async function setRun(number) {
  state.run = number;
  byId("run").value = number;
  fillClasses();
  await filter();
}

// The run is not a filter and stays.
function clearFilters() {
  byId("filters").reset();
  return setRun(state.run);
}

async function followHash() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const n = data.ids.indexOf(parameters.get("item"));
  if (n < 0) return false;
  const run = data.runs.findIndex((one) => one.name === parameters.get("run"));
  if (Math.max(0, run) !== state.run) await setRun(Math.max(0, run));
  if (!state.rows.includes(n)) {
    await clearFilters();
  }
  await select(n);
  byId("items").scrollIntoView();
  return true;
}

/* The detail of an item */

async function showDetail(n, follow) {
  let details;
  try {
    details = await block(Math.floor(n / data.chunk));
  } catch (error) {
    byId("detail").replaceChildren(el("p", { class: "warning" }, `This browser cannot unpack the item: ${error.message}`));
    return;
  }
  if (state.selected !== n) return; // Another item was chosen meanwhile.
  const at = n % data.chunk;
  const shared = details.items[at];
  const made = details.runs[state.run][at];
  byId("detail").replaceChildren(...heading(n), ...asked(shared), ...pictures(n, shared, made), ...answer(shared, made), prompt(made));
  if (follow) comeIntoView();
}

// Only if the top of the detail is out of sight: the page must not jump while the reader steps through the items.
function comeIntoView() {
  const top = byId("detail").getBoundingClientRect().top;
  if (top < 0 || top > innerHeight * 0.7) byId("detail").scrollIntoView();
}

function heading(n) {
  const run = data.runs[state.run];
  const at = state.rows.indexOf(n);
  const button = (label, by, off) => {
    const node = el("button", { type: "button" }, label);
    node.disabled = off;
    node.addEventListener("click", () => step(by));
    return node;
  };
  const buttons = el("div", { class: "buttons" }, button("Previous", -1, at === 0), button("Next", 1, at === state.rows.length - 1));
  const counts = `, ${plural(run.made[n], "change")} made, ${run.wanted[n]} in gold`;
  const summary = el("p", { class: "summary" }, el("b", { class: grade(run, n) }, `F1 ${percent(run.f1[n])}`), run.exact[n] ? ", exact" : "", counts);
  const tags = [...run.classes[n].map((c) => data.classes[c]), ...data.groups.filter((_, g) => groups[g].has(n)).map((g) => `${g.name}: ${g.label}`)];
  return [el("div", { class: "bar-of-detail" }, el("h3", {}, data.ids[n]), buttons), ...tabs(n), summary, el("p", { class: "note" }, tags.join(" · "))];
}

function tabs(n) {
  if (data.runs.length < 2) return [];
  const buttons = data.runs.map((run, number) => {
    const node = el("button", { type: "button", "aria-pressed": number === state.run }, `${run.name} ${percent(run.f1[n])}`);
    node.addEventListener("click", async () => {
      await setRun(number);
      await select(n);
      byId("detail").querySelectorAll(".tabs button")[number].focus();
    });
    return node;
  });
  return [el("div", { class: "tabs", role: "group", "aria-label": "Run" }, ...buttons)];
}

const isSaid = ([speaker]) => speaker !== "";

function turn([speaker, text]) {
  if (!speaker) return el("li", { class: "done" }, `› ${visible(text)}`);
  return el("li", {}, el("span", { class: "who" }, `${speaker}: `), visible(text));
}

// What was said since the last actions is what the item is about; the rest is its history.
function asked({ turns, note }) {
  let start = turns.length;
  while (start > 0 && isSaid(turns[start - 1])) start -= 1;
  const said = turns.slice(start).map(([speaker, text]) => el("p", {}, el("span", { class: "who" }, `${speaker}: `), visible(text)));
  const parts = [el("div", { class: "asked" }, ...(said.length ? said : [el("p", {}, "Nothing was said.")]))];
  if (start > 0) {
    const earlier = el("details", {}, el("summary", {}, `History: ${plural(start, "earlier turn")}`));
    earlier.append(el("ol", { class: "turns" }, ...turns.slice(0, start).map(turn)));
    parts.push(earlier);
  }
  if (note) parts.push(el("p", { class: "note" }, note));
  return parts;
}

const MARKS = {
  hexagons: "Dots: painted in this step.",
  minecraft: "Bright outline: placed. Dashed: removed. Arrow: where the builder looks.",
};

function pictures(n, shared, made) {
  const figure = (title, svg) => {
    const source = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    return el("figure", {}, el("figcaption", {}, title), el("img", { src: source, alt: `${title} of ${data.ids[n]}` }));
  };
  const shown = [figure("gold", shared.picture)];
  if (made.pictures) shown.push(figure("predicted", made.pictures[0]), figure("difference", made.pictures[1]));
  const marks = MARKS[data.world] + (made.pictures ? " Difference: ✓ right, ✗ wrong, ◇ missing." : "");
  return [el("div", { class: "pictures" }, ...shown), el("p", { class: "legend" }, marks)];
}

function titled(title, ...content) {
  return el("div", {}, el("h4", {}, title), ...content);
}

const preformatted = (text, label) => el("pre", { tabindex: 0, role: "region", "aria-label": label }, visible(text) || "(empty)");

function answer(shared, made) {
  if (made.problem) return [el("p", { class: "warning" }, visible(made.problem)), titled("Gold actions", preformatted(shared.gold, "Gold actions"))];
  const actions = el(
    "div",
    { class: "columns" },
    titled("Gold actions", preformatted(shared.gold, "Gold actions")),
    titled("Predicted actions", preformatted(made.actions, "Predicted actions")),
  );
  const parts = [actions];
  if (made.ignored) parts.push(titled("Infeasible, left out", preformatted(made.ignored, "Infeasible actions")));
  if (made.text !== null) parts.push(titled("The model's text", preformatted(made.text, "The model's text")));
  if (made.discarded.length) parts.push(titled("Discarded pieces", discarded(made.discarded)));
  if (made.facts.length) parts.push(el("p", { class: "note" }, made.facts.join(" · ")));
  return parts;
}

function discarded(pieces) {
  const rows = pieces.map(([text, reason]) => el("tr", {}, el("td", {}, el("code", {}, visible(text))), el("td", {}, visible(reason))));
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "piece"), el("th", { scope: "col" }, "why")));
  return el("div", { class: "scroll" }, el("table", { class: "pieces" }, head, el("tbody", {}, ...rows)));
}

// A prompt is long: it is added to the page when it is opened, and stays open from one item to the next.
let promptOpen = false;

function prompt(made) {
  const note = el("p", { class: "note" }, made.promptNote);
  if (made.prompt === null) return titled("Prompt", note);
  const box = el("details", {}, el("summary", {}, "Prompt"));
  const fill = () => {
    promptOpen = box.open;
    if (box.open && box.childElementCount === 1) box.append(note, preformatted(made.prompt, "Prompt"));
  };
  box.addEventListener("toggle", fill);
  box.open = promptOpen;
  return box;
}

/* Keys and start */

const STEPS = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };
const LIST_STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  // Boxes that scroll sideways keep the arrows for themselves.
  const scrolls = event.target.closest(".scroll, pre") && event.key.startsWith("Arrow");
  const by = event.target === list ? (LIST_STEPS[event.key] ?? STEPS[event.key]) : scrolls ? undefined : STEPS[event.key];
  if (by !== undefined) step(by);
  else if (event.key === "/") byId("query").focus();
  else return;
  event.preventDefault();
}

function listen() {
  for (const id of ["query", "low", "high"]) byId(id).addEventListener("input", filterSoon);
  for (const id of ["class", "group", "order"]) byId(id).addEventListener("change", filter);
  byId("run").addEventListener("change", async () => {
    await setRun(Number(byId("run").value));
    if (state.selected >= 0) await select(state.selected);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", clearFilters);
  list.addEventListener("scroll", () => requestAnimationFrame(() => drawList()), { passive: true });
  addEventListener("resize", () => drawList());
  addEventListener("hashchange", followHash);
  document.addEventListener("keydown", onKey);
}

async function start() {
  fillSelects();
  listen();
  await setRun(0);
  if (!(await followHash()) && state.rows.length) await showFirst();
  document.documentElement.dataset.ready = "true";
}

// The first item, without its name in the address, because the reader did not choose it.
function showFirst() {
  state.selected = state.rows[0];
  markSelected();
  return showDetail(state.selected, false);
}

start();
