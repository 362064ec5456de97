// One procedure, step by step: the instructions, the boards, how abstract each step is, who agreed; and what a model draws.
import { ask } from "./api.js";
import { actions, BLANK, Board, picture } from "./board.js";
import { button, h, percent, playback } from "./dom.js";
import { categoryName } from "./gallery.js";
import { answerView, picker, waiting } from "./players.js";

const TAGS = { A: "both Verifiers agree", V1: "Verifier 1 agrees", V2: "Verifier 2 agrees", VV: "only the Verifiers agree with each other", F: "nobody agrees" };
const LEVELS = { none: "no abstraction", low: "low abstraction", mid: "mid abstraction", high: "high abstraction" };
const PACE = 700;

function tagChip(tag) {
  if (!tag) return null;
  return h("span", { class: `chip ${tag === "F" || tag === "VV" ? "bad" : "good"}`, title: TAGS[tag] }, tag, h("span", { class: "unseen" }, `: ${TAGS[tag]}`));
}

export function f1(gold, made) {
  const key = (action) => action.join();
  const wanted = new Set(gold.map(key));
  const right = made.filter((action) => wanted.has(key(action))).length;
  return gold.length + made.length ? (2 * right) / (gold.length + made.length) : 1;
}

export async function show(main, [number, at]) {
  const data = await ask("GET", `/page/procedures/${encodeURIComponent(number ?? 0)}`);
  const { steps } = data;
  const boardBefore = (n) => (n ? steps[n - 1].board : BLANK);
  let current = Math.min(Math.max(0, Number(at ?? 1) - 1 || 0), steps.length - 1);
  const board = new Board({ editable: false, label: "After the step" });
  const before = h("div", {});
  const caption = h("div", { class: "caption" });
  const range = h("input", { type: "range", min: 1, max: steps.length, value: current + 1, "aria-label": "Step" });
  const { play, stop } = playback({ count: steps.length, at: () => current, select, pause: () => PACE, first: PACE });
  const reply = h("div", { class: "reply", "aria-live": "polite" });
  const list = h("ol", { class: "steps" }, steps.map((step, n) => h("li", {},
    h("button", { type: "button", class: "link", onclick: () => { stop(); select(n); } }, step.instruction || "(no text)"),
    h("span", { class: "levels" }, tagChip(step.tag), step.level ? h("span", { class: "chip", title: LEVELS[step.level] }, step.level) : null))));

  function select(n) {
    current = n;
    const step = steps[n];
    board.show(step.board, boardBefore(n));
    before.replaceChildren(picture(boardBefore(n), { label: "Board before the step" }));
    const changed = actions(boardBefore(n), step.board).length;
    caption.replaceChildren(h("strong", {}, `Step ${n + 1} of ${steps.length}: `), step.instruction, h("div", { class: "chips" },
      h("span", { class: "chip" }, `${changed} tile${changed === 1 ? "" : "s"}`),
      step.tag ? h("span", { class: "chip" }, TAGS[step.tag]) : h("span", { class: "chip" }, "not verified"),
      step.scores ? h("span", { class: "chip" }, `board F1 ${step.scores.slice(0, 2).map(percent).join(" and ")}, with each other ${percent(step.scores[2])}`) : null,
      step.level ? h("span", { class: "chip" }, `${LEVELS[step.level]} (our label)`) : null));
    range.value = n + 1;
    [...list.children].forEach((item, place) => (place === n ? item.setAttribute("aria-current", "step") : item.removeAttribute("aria-current")));
    const item = list.children[n];
    if (item.offsetTop < list.scrollTop || item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = item.offsetTop - 4;
    reply.replaceChildren();
  }
  range.addEventListener("input", () => { stop(); select(range.value - 1); });

  const { select: players, notes } = await picker("hexagons");
  const askIt = button("Draw this step", async () => {
    stop();
    askIt.disabled = true;
    const n = current;
    const history = steps.slice(0, n).map((step, place) => ({ instruction: step.instruction, actions: actions(boardBefore(place), step.board) }));
    const request = { task: "hexagons", model: players.value, instruction: steps[n].instruction, board: boardBefore(n), history };
    const began = performance.now();
    try {
      const answer = await waiting(reply, players.value, ask("POST", "/v1/harness/execute", request));
      const gold = actions(boardBefore(n), steps[n].board);
      const made = actions(boardBefore(n), answer.board);
      if (current === n) {
        reply.replaceChildren(
          h("p", {}, h("strong", {}, `Action F1 ${percent(f1(gold, made))}`), " on the gold board before this step"),
          picture(answer.board, { before: boardBefore(n), label: `What ${answer.model} drew` }),
          answerView(answer, (performance.now() - began) / 1000));
      }
    } catch (error) {
      reply.replaceChildren(h("p", { class: "warn" }, error.message));
    }
    askIt.disabled = false;
  }, { class: "button" });
  const beside = (index, text) => (index === null ? h("span", { class: "button small", "aria-disabled": "true" }, text) : h("a", { class: "button small", href: `#/procedure/${index}` }, text));
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, `Procedure ${data.index}`),
      h("div", { class: "row" }, beside(data.previous, "Previous"), beside(data.next, "Next"), h("a", { class: "button small", href: "#/gallery" }, "All images")),
      h("p", {}, `Image ${data.image_id}, ${categoryName(data.category)}, ${data.split}; round ${data.round}, Instructor ${data.instructor}.`)),
    h("div", { class: "two" },
      h("div", { class: "stack" },
        h("section", { class: "card", "aria-label": "Boards" }, board.element, h("div", { class: "player" }, play, button("\u2039", () => { stop(); select(Math.max(0, current - 1)); }, { "aria-label": "Step back" }), range, button("\u203a", () => { stop(); select(Math.min(steps.length - 1, current + 1)); }, { "aria-label": "Step on" })), caption),
        h("div", { class: "two even" },
          h("section", { class: "card" }, h("h2", {}, "Before the step"), before),
          h("section", { class: "card" }, h("h2", {}, "What a model draws"), h("div", { class: "row" }, h("div", { class: "grow" }, players), askIt), notes, reply))),
      h("section", { class: "card" }, h("h2", {}, "Instructions"), list)));
  select(current);
  return stop;
}
