// Building in Minecraft: a person directs a model. The browser keeps the game, as it keeps the drawing.
import { ask, start } from "./api.js";
import { button, field, h, percent, toast } from "./dom.js";
import { anotherButton, answerView, picker, waiting } from "./players.js";
import { after, key, Region } from "./region.js";
import { talkList } from "./talk.js";

const KEPT = "building";
const DRAFT = "building-draft";

function restored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    if (Array.isArray(kept.turns) && Array.isArray(kept.target.blocks)) return kept;
  } catch {
    // Nothing is kept, or nothing that can be read.
  }
  return null;
}

const keep = (game) => localStorage.setItem(KEPT, JSON.stringify(game));

export async function show(main, [page]) {
  const game = restored();
  return page && game ? play(main, game) : lobby(main, game);
}

async function lobby(main, game) {
  const targets = await ask("GET", "/page/targets");
  const target = h("select", {}, h("option", { value: "" }, "Any target"), h("option", { value: "-" }, "No target: build what you like"),
    targets.map((one) => h("option", { value: one.name }, `${one.name}, ${one.blocks.length} blocks`)));
  const begin = () => {
    const any = targets[Math.floor(Math.random() * targets.length)];
    const chosen = target.value === "-" ? { name: "", blocks: [] } : targets.find((one) => one.name === target.value) ?? any;
    keep({ target: chosen, turns: [], blocks: [], over: false, score: null });
    location.hash = "#/build/game";
  };
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, "Build in Minecraft"), h("p", {}, "Two players: the Architect, which is you, knows a target and talks; the Builder, a model, has the blocks.")),
    h("section", { class: "card narrow" }, h("h2", {}, "Direct a model"), h("p", { class: "lead" }, "You see the target and say what to build. The model builds, and says why if it does not do everything."),
      field("Target", target), h("div", { class: "row" }, button("Start as Architect", begin, { class: "button primary" }),
        game && h("a", { class: "button", href: "#/build/game" }, game.over ? "The last game" : "Go on with the last game"))));
}

async function play(main, game) {
  const [{ pose }, { select, notes }] = await Promise.all([start(), picker("minecraft")]);
  const directing = new Directing(game, pose, select);
  directing.open(main, notes);
  return () => directing.close();
}

function scoreBox(score) {
  if (!score) return h("p", { class: "hint" }, "There was no target to compare with.");
  return h("div", { class: "score" },
    h("div", {}, h("b", {}, percent(score.f1)), h("span", {}, "F1, after the best rotation and shift")),
    h("div", {}, h("b", {}, `${score.right} of ${score.wanted}`), h("span", {}, "blocks of the target stand")),
    h("div", {}, h("b", {}, String(score.built)), h("span", {}, "blocks were built")));
}

class Directing {
  constructor(game, pose, players) {
    this.game = game;
    this.pose = pose;
    this.players = players;
    this.leaving = new AbortController();
    this.region = new Region({ label: "What stands" });
    this.target = new Region({ label: "Target", small: true });
    this.eyes = h("input", { type: "checkbox" });
    this.eyes.addEventListener("change", () => this.region.setPose(pose, this.eyes.checked));
    this.talk = h("div", {});
    this.foot = h("div", {});
    this.reply = h("div", { class: "reply", "aria-live": "polite" });
    this.text = h("textarea", { rows: 3, maxlength: 20000, placeholder: "Build a row of three red blocks in the middle.", value: localStorage.getItem(DRAFT) ?? "" });
    this.text.addEventListener("input", () => localStorage.setItem(DRAFT, this.text.value));
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.say(event);
    });
    this.send = h("button", { class: "button primary", type: "submit" }, "Say it");
    this.undo = button("Undo", () => this.change(this.asked().slice(0, -1)));
    this.again = button("Let it answer", () => this.answer());
    this.form = h("form", { onsubmit: (event) => this.say(event) }, field("Builder", players), field("Say to the Builder", this.text, "Enter sends it."),
      h("div", { class: "row" }, this.send, this.again, this.undo, button("Finish", () => this.finish())));
  }

  open(main, notes) {
    const { target } = this.game;
    main.replaceChildren(
      h("div", { class: "head" }, h("h1", {}, "Direct a model"), h("a", { class: "button small", href: "#/build" }, "Another game"),
        h("p", {}, "Tell the Builder what to build, in as many messages as you like. Undo takes the last one back, with everything that followed.")),
      h("div", { class: "two" },
        h("section", { class: "card", "aria-label": "What stands" }, this.region.element, h("div", { class: "bar foot" }, h("label", { class: "check" }, this.eyes, "Through the builder\u2019s eyes"), this.region.tools)),
        h("div", { class: "stack" },
          target.blocks.length ? h("section", { class: "card" }, h("h2", {}, `Target ${target.name}`), this.target.element, h("div", { class: "bar foot" }, this.target.tools)) : null,
          h("section", { class: "card" }, h("h2", {}, "Dialogue"), this.talk, this.form, notes, this.reply, this.foot))));
    this.target.show(target.blocks);
    this.update();
  }

  close() {
    this.leaving.abort();
    this.region.dispose();
    this.target.dispose();
  }

  // The turns up to the Architect's last words.
  asked() {
    return this.game.turns.slice(0, this.game.turns.findLastIndex((turn) => turn.speaker === "Architect") + 1);
  }

  // Makes these the turns of the game.
  change(turns) {
    this.game.turns = turns;
    this.game.blocks = after([], turns.flatMap((turn) => turn.actions ?? []));
    this.update();
  }

  // What was done after the Architect's last words, and by whom.
  built(actions, text, by) {
    this.change([...this.asked(), ...(actions.length ? [{ actions, pose: this.pose }] : []), { speaker: "Builder", text, by }]);
  }

  update() {
    const { turns, blocks, over, score } = this.game;
    keep(this.game);
    const list = talkList(turns);
    this.talk.replaceChildren(list);
    list.scrollTop = list.scrollHeight;
    // Blocks that the last actions placed are marked.
    const last = turns.findLast((turn) => turn.actions);
    this.region.show(blocks, new Set((last?.actions ?? []).map((action) => key(action.slice(2)))));
    this.region.setPose(this.pose, this.eyes.checked);
    const waits = turns.at(-1)?.speaker === "Architect";
    this.form.hidden = over;
    this.undo.disabled = this.busy || !turns.length;
    this.again.hidden = !waits;
    this.send.hidden = waits;
    if (over) {
      this.reply.replaceChildren();
      this.foot.replaceChildren(scoreBox(score));
    }
  }

  say(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (!text || this.busy || this.send.hidden) return;
    this.text.value = "";
    localStorage.removeItem(DRAFT);
    this.change([...this.game.turns, { speaker: "Architect", text }]);
    this.answer();
  }

  async finish() {
    try {
      const { blocks, target } = this.game;
      const f1 = await ask("POST", "/page/score", { built: blocks, target: target.blocks });
      const [built, wanted] = [blocks.length, target.blocks.length];
      this.game.score = f1 === null ? null : { f1, built, wanted, right: Math.round((f1 * (built + wanted)) / 2) };
      this.game.over = true;
      this.update();
    } catch (error) {
      toast(error.message, true);
    }
  }

  // The players in `asked` have already answered the Architect's last words; what they built is taken back.
  async answer(model = this.players.value, asked = []) {
    if (this.busy) return;
    this.busy = this.again.disabled = true;
    this.change(this.asked());
    const turns = this.game.turns.map(({ by, ...turn }) => turn);
    const request = { task: "minecraft", model, instruction: turns.at(-1).text, history: turns.slice(0, -1), blocks: this.game.blocks, pose: this.pose };
    const began = performance.now();
    const all = [...asked, model];
    const another = await anotherButton("minecraft", all, (next) => this.answer(next, all));
    try {
      const answer = await waiting(this.reply, model, ask("POST", "/v1/harness/execute", request, { signal: this.leaving.signal }));
      const ignored = new Set(answer.ignored.map(String));
      this.built(answer.actions.filter((action) => !ignored.has(String(action))), answer.why ?? "Done.", answer.model);
      this.reply.replaceChildren(answerView(answer, (performance.now() - began) / 1000), h("div", { class: "row" }, another));
    } catch (error) {
      this.reply.replaceChildren(h("p", { class: "warn" }, error.message), h("div", { class: "row" }, another));
    }
    this.busy = this.again.disabled = this.undo.disabled = false;
    this.text.focus();
  }
}
