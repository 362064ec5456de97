// The game of HEXAGONS: an Instructor describes an image, then Verifiers draw what was written without seeing it.
import { ask, begin, Session } from "./api.js";
import { BLANK, Board, palette, picture } from "./board.js";
import { button, field, h, percent, personField, toast } from "./dom.js";

export async function show(main, [id], alive) {
  return id ? play(main, id, alive) : lobby(main);
}

async function beginAs(person, body) {
  if (!person.value.trim()) {
    toast("Enter your name first.", true);
    person.focus();
    return;
  }
  await begin("game", { ...body, name: person.value.trim() });
}

async function lobby(main) {
  const [sessions, images] = await Promise.all([ask("GET", "/page/sessions"), ask("GET", "/page/images")]);
  const person = personField();
  const drawing = JSON.parse(localStorage.getItem("drawing") ?? "null")?.digits ?? BLANK;
  const image = h("input", { type: "search", list: "images", placeholder: "any", maxlength: 40 });
  const known = h("datalist", { id: "images" }, images.map((one) => h("option", { value: one.id }, one.category)));
  const describe = () => {
    const chosen = image.value.trim() || images[Math.floor(Math.random() * images.length)].id;
    beginAs(person, { kind: "description", image: chosen });
  };
  const open = [...sessions.description, ...sessions.execution].filter((one) => !one.finished).sort((a, b) => b.changed - a.changed);
  const done = sessions.description.filter((one) => one.finished).reverse();
  const verify = (one) => beginAs(person, { kind: "execution", about: one.id });
  const when = (one) => new Date(one.changed * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, "The game"),
      h("p", {}, "One person writes how to draw an image, step by step. Two others draw what is written, without the image.")),
    h("div", { class: "two" },
      h("div", { class: "stack" },
        h("section", { class: "card" }, h("h2", {}, "Procedures to verify"),
          done.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["Instructor", "Steps", "Verified by", "Next"].map((name) => h("th", {}, name)))),
            h("tbody", {}, done.map((one) => h("tr", {}, h("td", {}, one.name.slice(0, 60)), h("td", { class: "n" }, String(one.steps)), h("td", {}, one.verifiers.map((name) => name.slice(0, 40)).join(", ") || "nobody yet"),
              h("td", {}, h("div", { class: "row" }, button("Execute", () => verify(one), { class: "button small primary" }), h("a", { class: "button small", href: `#/game/${one.id}` }, "Results"))))))))
            : h("p", { class: "hint" }, "None yet: describe an image first.")),
        h("section", { class: "card" }, h("h2", {}, "Games in progress"),
          open.length ? h("ul", { class: "steps plain" }, open.map((one) => h("li", {}, h("a", { href: `#/game/${one.id}` }, one.kind === "description" ? `Description of ${one.image}` : "Execution"), h("small", {}, `${one.name.slice(0, 40)}, ${when(one)}`))))
            : h("p", { class: "hint" }, "No game is in progress."))),
      h("section", { class: "card" }, h("h2", {}, "Describe an image"), field("Your name", person, "It tells people apart."),
        field("Image", image, `One of ${images.length}; leave it empty for any.`), known,
        h("div", { class: "row" }, button("Describe it", describe, { class: "button primary" }),
          button("Describe my drawing", () => beginAs(person, { kind: "description", board: drawing }), { disabled: drawing === BLANK, title: "What is on the drawing board" })))));
}

async function play(main, id, alive) {
  const view = { end: () => {} };
  const session = await Session.open(id, (one) => alive() && render(one));
  function render(one) {
    view.end();
    const shown = SCREENS[one.data.kind === "description" ? one.state.phase : one.state.phase === "finished" ? "result" : "executing"];
    view.end = shown(main, one) ?? (() => {});
  }
  render(session);
  return () => {
    view.end();
    session.close();
  };
}

const SCREENS = { describing, aligning: (main, session) => drawing(main, session, true), executing: (main, session) => drawing(main, session, false), finished: review, result };

function head(title, text, extra) {
  return h("div", { class: "head" }, h("h1", {}, title), h("div", { class: "row" }, extra, h("a", { class: "button small", href: "#/game" }, "All games")), h("p", {}, text));
}

function describing(main, session) {
  const { image, steps } = session.state;
  const key = `draft-${session.data.id}`;
  const text = h("textarea", { rows: 4, id: "step", maxlength: 60000, placeholder: "Paint the second tile of the third column red." });
  text.value = localStorage.getItem(key) ?? "";
  text.addEventListener("input", () => localStorage.setItem(key, text.value));
  const add = async () => {
    const written = text.value;
    if (!written.trim()) return text.focus();
    if (await session.send({ type: "add", text: written })) {
      localStorage.removeItem(key);
      const next = document.getElementById("step");
      if (next) {
        next.value = "";
        next.focus();
      }
    }
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) add();
  });
  main.replaceChildren(
    head("Describe the image", "Write steps from which somebody who does not see the image can draw it. Each line is a step."),
    h("div", { class: "two even" },
      h("section", { class: "card" }, h("h2", {}, "Target image"), picture(image.board, { label: `Target: image ${image.id}` })),
      h("section", { class: "card" }, h("h2", {}, "Drawing procedure"),
        h("ol", { class: "steps" }, steps.map((step) => h("li", {}, h("span", {}, step.instruction)))),
        field("Next step", text, "Ctrl+Enter adds it."),
        h("div", { class: "row" }, button("Undo", () => session.send({ type: "undo" }), { disabled: !steps.length }),
          button("Add step", add, { class: "button primary" }),
          button("Finish", async () => { if (text.value.trim()) toast("The step in the text field has not been added yet.", true); else session.send({ type: "finish" }); }, { disabled: !steps.length })))));
  const list = main.querySelector(".steps");
  list.scrollTop = list.scrollHeight;
}

// Drawing step by step: the Instructor aligns with the image in sight, a Verifier or a model executes without it.
function drawing(main, session, aligns) {
  const { steps, current, image } = session.state;
  const last = current === steps.length - 1;
  const before = current ? steps[current - 1].board : BLANK;
  let timer = null;
  let pending = null;
  const flush = () => {
    clearTimeout(timer);
    const sent = pending;
    pending = null;
    return sent === null ? session.queue : session.send({ type: "paint", step: current, board: sent }, true);
  };
  const undone = [];
  const keep = () => {
    pending = board.digits;
    clearTimeout(timer);
    timer = setTimeout(flush, 250);
    back.disabled = !undone.length;
  };
  const board = new Board({ digits: steps[current].board ?? before, label: "Board", stroke: (was) => { undone.push(was); keep(); } });
  const colors = palette(board);
  const back = button("Undo", () => { board.show(undone.pop()); keep(); }, { disabled: true });
  const numbers = h("input", { type: "checkbox" });
  numbers.addEventListener("change", () => board.coordinates(numbers.checked));
  const warning = h("p", { class: "warn", role: "alert" });
  let warned = false;
  const go = async (event) => { await flush(); await session.send(event); };
  const done = () => {
    const off = aligns ? [...image.board].filter((digit, n) => digit !== board.digits[n]).length : 0;
    if (off && !warned) {
      warned = true;
      warning.textContent = `${off} tile${off === 1 ? " differs" : "s differ"} from the image. Press Done again to finish anyway.`;
      return;
    }
    go({ type: "done" });
  };
  const list = h("ol", { class: "steps" }, steps.map((step, n) => h("li", n === current ? { "aria-current": "step" } : { class: n > current && !aligns ? "later" : "" }, h("span", {}, n > current && !aligns ? "\u2026" : step.instruction))));
  const controls = h("div", { class: "row" },
    aligns ? button("Back", () => go({ type: "go", step: current - 1 }), { disabled: current === 0 }) : null,
    button("Next", () => go({ type: "go", step: current + 1 }), { class: "button primary", disabled: last }),
    button("Done", done, { class: last ? "button primary" : "button", disabled: !last }));
  main.replaceChildren(
    aligns ? head("Align each step", `Draw what step ${current + 1} of ${steps.length} means. What you draw is its gold execution.`)
      : head("Execute the procedure", `Draw step ${current + 1} of ${steps.length} as it is written. The board keeps its state.`),
    h("div", { class: "two" },
      h("section", { class: "card stage" }, h("div", { class: "bar" }, colors, back), board.element, h("div", { class: "bar" }, h("label", { class: "check" }, numbers, "Numbers"), board.where, controls), warning),
      h("div", { class: "stack" },
        aligns ? h("section", { class: "card" }, h("h2", {}, "Target image"), picture(image.board, { label: `Target: image ${image.id}` })) : null,
        h("section", { class: "card" }, h("h2", {}, "Instructions"), list))));
  list.scrollTop = Math.max(0, (list.children[current]?.offsetTop ?? 0) - 80);
  addEventListener("pagehide", flush);
  return () => {
    removeEventListener("pagehide", flush);
    flush();
  };
}

function scoreTable(scores) {
  const mean = (kind, name) => scores.reduce((sum, step) => sum + step[kind][name], 0) / scores.length;
  const cells = (step) => [step.board.f1, step.board.em, step.action.f1, step.action.em].map((value) => h("td", { class: "n" }, percent(value)));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Scores by step" }, h("table", { class: "scores" },
    h("thead", {}, h("tr", {}, h("th", {}, "Step"), ["Board F1", "Board EM", "Action F1", "Action EM"].map((name) => h("th", { class: "n" }, name)))),
    h("tbody", {}, scores.map((step, n) => h("tr", {}, h("td", {}, String(n + 1)), cells(step))),
      h("tr", {}, h("td", {}, h("strong", {}, "Mean")), [["board", "f1"], ["board", "em"], ["action", "f1"], ["action", "em"]].map(([kind, name]) => h("td", { class: "n" }, h("strong", {}, percent(mean(kind, name)))))))));
}

function result(main, session) {
  const { gold, scores, state } = session.data;
  main.replaceChildren(
    head("What you drew", "Each step against what the Instructor meant.", h("a", { class: "button small", href: `#/game/${session.data.about}` }, "All results")),
    h("section", { class: "card" }, scoreTable(scores)),
    h("h2", { class: "section" }, "Step by step"),
    h("div", { class: "film" }, state.steps.map((step, n) => h("section", { class: "card" }, h("p", { class: "clip" }, h("strong", {}, `${n + 1}. `), step.instruction),
      h("h3", {}, "Meant"), picture(gold.steps[n].board, { before: n ? gold.steps[n - 1].board : BLANK, frame: false }), h("h3", {}, "Drawn"), picture(step.board, { before: n ? state.steps[n - 1].board : BLANK, frame: false })))));
}

function review(main, session) {
  const { image, steps } = session.state;
  const { executions } = session.data;
  const missing = 2 - Math.min(2, executions.length);
  main.replaceChildren(
    head(`Image ${image.id}`, `Described by ${session.data.name.slice(0, 80)} in ${steps.length} step${steps.length === 1 ? "" : "s"}. ${missing ? `It waits for ${missing} Verifier${missing === 1 ? "" : "s"}.` : "Two Verifiers drew it."}`),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", {}, "Drawing procedure"), h("ol", { class: "steps" }, steps.map((step) => h("li", {}, h("span", {}, step.instruction))))),
      h("section", { class: "card" }, h("h2", {}, "Target image"), picture(image.board))),
    ...executions.map((one) => h("section", { class: "card later-card" }, h("h2", {}, one.name.slice(0, 60)), scoreTable(one.scores))));
}
