// Models as players: choosing one, waiting for it, and showing what it said.
import { start } from "./api.js";
import { button, h } from "./dom.js";

const KINDS = [["language model", "Language models"], ["parser", "The parser"], ["baseline", "Baselines"]];

// The players of a task, the default one first.
async function ranked(task) {
  const { players } = await start();
  return players.filter((player) => player.tasks.includes(task));
}

// A select with the players of a task, which shows the one chosen last or else the default; and notes on players that are missing.
export async function picker(task) {
  const [{ notes }, fit] = await Promise.all([start(), ranked(task)]);
  const select = h("select", { "aria-label": "Player" },
    KINDS.map(([kind, title]) => {
      const own = fit.filter((player) => player.kind === kind);
      return own.length ? h("optgroup", { label: title }, own.map((player) => h("option", { value: player.name }, player.name))) : null;
    }));
  const last = localStorage.getItem(`player-${task}`);
  if (fit.length) select.value = fit.some((player) => player.name === last) ? last : fit[0].name;
  select.addEventListener("change", () => localStorage.setItem(`player-${task}`, select.value));
  const models = fit.some((player) => player.kind === "language model");
  const told = notes.length ? notes : models ? [] : ["No language model is available: start harness app with --base-url or --adapter."];
  return { select, notes: told.map((note) => h("p", { class: "hint" }, note)) };
}

// Shows that a model is working, and for how long, until the promise settles.
export async function waiting(place, name, promise) {
  const began = performance.now();
  const time = h("span", { class: "time" }, "0.0 s");
  const bar = h("div", { class: "progress", role: "progressbar", "aria-label": `${name} is working` }, h("i"));
  const box = h("div", { class: "waiting" }, h("span", {}, name, " is reading and answering"), time, bar);
  place.replaceChildren(box);
  const timer = setInterval(() => (time.textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`), 100);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    box.remove();
  }
}

// A button that asks the first player that has not answered this turn yet; null if all have. `take` is called with its name.
export async function anotherButton(task, asked, take) {
  const next = (await ranked(task)).find((player) => !asked.includes(player.name));
  return next ? button("Ask another player", () => take(next.name), { title: next.name }) : null;
}

function leftOut({ left_out: count, task }) {
  if (task !== "hexagons") return `The first ${count === 1 ? "turn was" : `${count} turns were`} not read.`;
  return `The first ${count === 1 ? "step was" : `${count} steps were`} not read: \u201cstep 1\u201d was taken for step ${count + 1}, and earlier steps cannot be referred to.`;
}

// What a model answered: why it did nothing or not everything, what it read or wrote, and how sure it is.
export function answerView(answer, seconds) {
  const count = answer.actions.length;
  const facts = [h("span", { class: "chip" }, answer.model), h("span", { class: "chip" }, `${count} action${count === 1 ? "" : "s"}`)];
  if (answer.confidence !== null && answer.confidence !== undefined) {
    facts.push(h("span", { class: "chip sure" }, "confidence ", h("meter", { min: 0, max: 1, value: answer.confidence, "aria-label": "confidence" }), ` ${Math.round(100 * answer.confidence)}%`));
  }
  if (seconds !== undefined) facts.push(h("span", { class: "chip" }, `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`));
  const written = answer.program ?? answer.text;
  return h("div", { class: "answer" },
    h("div", { class: "chips" }, facts),
    answer.why ? h("p", { class: "warn" }, answer.why) : null,
    written ? h("div", {}, h("h3", {}, answer.program !== null ? "What it read, as a program" : "Its text"), h("pre", { tabindex: "0" }, written)) : answer.actions.length ? h("p", { class: "hint" }, "It gave its actions without a text.") : null,
    answer.discarded.length ? h("div", {}, h("h3", {}, "Discarded"), h("ul", { class: "discarded" }, answer.discarded.map((piece) => h("li", {}, h("code", {}, piece.text.slice(0, 400)), ` ${piece.reason}`)))) : null,
    answer.left_out ? h("p", { class: "warn" }, leftOut(answer)) : null);
}
