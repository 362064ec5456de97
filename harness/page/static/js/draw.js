// The drawing application: a board, eight colors, and any model that draws along.
import { ask } from "./api.js";
import { actions, asJson, asPng, asSvg, BLANK, Board, palette } from "./board.js";
import { button, download, field, h } from "./dom.js";
import { anotherButton, answerView, picker, waiting } from "./players.js";

const KEPT = "drawing";

function restored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    if (/^[0-7]{180}$/.test(kept.digits) && Array.isArray(kept.steps)) return kept;
  } catch {
    // Nothing is kept, or nothing that can be read.
  }
  return { digits: BLANK, steps: [] };
}

export async function show(main) {
  let { digits, steps } = restored();
  let past = [];
  let future = [];
  const board = new Board({ digits, label: "Drawing", stroke: (before) => remember({ digits: before, steps }) });
  const colors = palette(board);
  const undo = button("Undo", () => travel(past, future), { title: "Ctrl+Z" });
  const redo = button("Redo", () => travel(future, past), { title: "Ctrl+Y" });
  const clear = button("Clear", () => change(BLANK, []));
  const numbers = h("input", { type: "checkbox", checked: localStorage.getItem("numbers") === "1" });
  const list = h("ol", { class: "steps" });
  const reply = h("div", { class: "reply", "aria-live": "polite" });
  const { select, notes } = await picker("hexagons");
  const text = h("textarea", { rows: 3, maxlength: 20000, placeholder: "Paint the first column red." });
  const go = h("button", { class: "button primary", type: "submit" }, "Draw it");

  function save() {
    localStorage.setItem(KEPT, JSON.stringify({ digits: board.digits, steps }));
    undo.disabled = !past.length;
    redo.disabled = !future.length;
    list.replaceChildren(...steps.map((step) => h("li", {}, h("span", {}, step.instruction), h("small", {}, step.by))));
  }
  function remember(before) {
    past.push(before);
    if (past.length > 500) past.shift();
    future = [];
    save();
  }
  function change(next, nextSteps) {
    remember({ digits: board.digits, steps });
    const before = board.digits;
    steps = nextSteps;
    board.show(next, nextSteps.length ? before : undefined);
    save();
  }
  function travel(from, to) {
    if (!from.length) return;
    to.push({ digits: board.digits, steps });
    const state = from.pop();
    steps = state.steps;
    board.show(state.digits);
    save();
  }

  async function draw(event) {
    event.preventDefault();
    const instruction = text.value.trim();
    if (!instruction) return;
    const history = steps.map(({ instruction, actions, text }) => ({ instruction, actions, text: text ?? null }));
    if (await answer({ task: "hexagons", model: select.value, instruction, board: board.digits, history })) text.value = "";
  }

  // Asks the request's model. Its step replaces `replaced`, the step of another player that answered the same request.
  async function answer(request, replaced = null, asked = []) {
    if (go.disabled) return false;
    go.disabled = true;
    const began = performance.now();
    const all = [...asked, request.model];
    const another = (step) => anotherButton("hexagons", all, (model) => answer({ ...request, model }, step, all));
    try {
      const told = await waiting(reply, request.model, ask("POST", "/v1/harness/execute", request));
      const step = { instruction: request.instruction, actions: actions(request.board, told.board), text: told.text, by: told.model };
      change(told.board, [...(replaced && steps.at(-1) === replaced ? steps.slice(0, -1) : steps), step]);
      reply.replaceChildren(answerView(told, (performance.now() - began) / 1000), h("div", { class: "row" }, await another(step)));
      return true;
    } catch (error) {
      reply.replaceChildren(h("p", { class: "warn" }, error.message), h("div", { class: "row" }, await another(replaced)));
      return false;
    } finally {
      go.disabled = false;
    }
  }

  function keys(event) {
    if (event.target.closest("input, textarea, select") || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) travel(past, future);
    else if (key === "y" || (key === "z" && event.shiftKey)) travel(future, past);
    else return;
    event.preventDefault();
  }
  document.addEventListener("keydown", keys);
  numbers.addEventListener("change", () => {
    board.coordinates(numbers.checked);
    localStorage.setItem("numbers", numbers.checked ? "1" : "0");
  });
  board.coordinates(numbers.checked);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) draw(event);
  });
  const save_as = (name, make, type) => button(name, async () => download(`drawing.${name.toLowerCase()}`, await make(board.digits), type), { class: "button small" });

  main.replaceChildren(
    h("h1", { class: "unseen" }, "Draw on the board of HEXAGONS"),
    h("div", { class: "two" },
      h("section", { class: "card stage", "aria-label": "Board" },
        h("div", { class: "bar" }, colors, h("div", { class: "row tools" }, undo, redo, clear)),
        board.element,
        h("div", { class: "bar foot" }, h("label", { class: "check" }, numbers, "Numbers"), board.where, h("div", { class: "row", role: "group", "aria-label": "Save as" }, save_as("PNG", asPng), save_as("SVG", asSvg, "image/svg+xml"), save_as("JSON", asJson, "application/json")))),
      h("section", { class: "card side", "aria-labelledby": "along" },
        h("h2", { id: "along" }, "Draw with a model"),
        h("form", { onsubmit: draw }, field("Player", select), field("Instruction", text, "Enter sends it."), go),
        notes, reply, list)));
  save();
  return () => document.removeEventListener("keydown", keys);
}
