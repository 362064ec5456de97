// Models as players: choosing one, waiting for it, and showing what it said.
import { start } from "./api.js";
import { h } from "./dom.js";

const KINDS = [["parser", "The parser"], ["baseline", "Baselines"], ["language model", "Language models"]];

// A select with the players of a task, the last chosen one first; and what is missing.
export async function picker(task, favorite) {
  const { players, notes } = await start();
  const fit = players.filter((player) => player.tasks.includes(task));
  const select = h("select", { "aria-label": "Player" },
    KINDS.map(([kind, title]) => {
      const own = fit.filter((player) => player.kind === kind);
      return own.length ? h("optgroup", { label: title }, own.map((player) => h("option", { value: player.name }, player.name))) : null;
    }));
  for (const name of [favorite, localStorage.getItem(`player-${task}`)]) if (fit.some((player) => player.name === name)) select.value = name;
  select.addEventListener("change", () => localStorage.setItem(`player-${task}`, select.value));
  const models = fit.some((player) => player.kind === "language model");
  const told = notes.length ? notes : models ? [] : ["No language model plays here: start harness app with --base-url or --adapter."];
  return { select, notes: told.map((note) => h("p", { class: "hint" }, note)) };
}

// Shows that a model works, for how long, until the promise settles.
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

// What a model answered: its program or text, how sure it is, what was not understood, what could not be carried out.
function leftOut({ left_out: count, task }) {
  if (task !== "hexagons") return `The first ${count === 1 ? "turn was" : `${count} turns were`} not read.`;
  return `The first ${count === 1 ? "step was" : `${count} steps were`} not read: \u201cstep 1\u201d was taken for step ${count + 1}, and earlier steps cannot be referred to.`;
}

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
    written ? h("div", {}, h("h3", {}, answer.program !== null ? "Its program" : "Its text"), h("pre", { tabindex: "0" }, written)) : h("p", { class: "hint" }, answer.program === "" ? "It understood nothing to draw." : "It gave its actions without a text."),
    answer.discarded.length ? h("div", {}, h("h3", {}, "Discarded"), h("ul", { class: "discarded" }, answer.discarded.map((piece) => h("li", {}, h("code", {}, piece.text.slice(0, 400)), ` ${piece.reason}`)))) : null,
    answer.left_out ? h("p", { class: "warn" }, leftOut(answer)) : null,
    answer.ignored.length ? h("p", { class: "warn" }, `${answer.ignored.length} of its actions cannot be carried out.`) : null);
}
