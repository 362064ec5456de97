// Building in Minecraft: a person directs a model.
import { ask, begin, Session } from "./api.js";
import { button, field, h, percent, personField, toast } from "./dom.js";
import { anotherButton, answerView, picker, waiting } from "./players.js";
import { key, kit, Region } from "./region.js";
import { talkList } from "./talk.js";

export async function show(main, [id], alive) {
  return id ? play(main, id, alive) : lobby(main);
}

const beginAs = (person, body) => begin("build", { kind: "building", name: person.value.trim() || "somebody", ...body });

async function lobby(main) {
  const [sessions, targets] = await Promise.all([ask("GET", "/page/sessions"), ask("GET", "/page/targets")]);
  const person = personField();
  const target = h("select", {}, h("option", { value: "" }, "Any target"), h("option", { value: "-" }, "No target: build what you like"),
    targets.map((one) => h("option", { value: one.name }, `${one.name}, ${one.blocks.length} blocks`)));
  const direct = () => {
    const name = target.value === "" ? targets[Math.floor(Math.random() * targets.length)].name : target.value;
    beginAs(person, name === "-" ? {} : { target: name });
  };
  const line = (one) => h("li", {}, h("a", { href: `#/build/${one.id}` }, `Directing${one.target ? `: ${one.target}` : ""}`),
    h("small", {}, one.finished ? (one.score ? `finished, F1 ${percent(one.score.f1)}` : "finished") : "in progress"));
  main.replaceChildren(
    h("div", { class: "head" }, h("h1", {}, "Build in Minecraft"), h("p", {}, "Two players: the Architect, which is you, knows a target and talks; the Builder, a model, has the blocks.")),
    h("div", { class: "two even" },
      h("section", { class: "card" }, h("h2", {}, "Direct a model"), h("p", { class: "lead" }, "You see the target and say what to build. The model builds, says what it did, and asks when a color or a place is missing."),
        field("Target", target), button("Start as Architect", direct, { class: "button primary" })),
      h("section", { class: "card" }, h("h2", {}, "You"), field("Your name", person)),
      h("section", { class: "card" }, h("h2", {}, "Games"), sessions.building.length ? h("ul", { class: "steps plain" }, [...sessions.building].reverse().map(line)) : h("p", { class: "hint" }, "None yet."))));
}

async function play(main, id, alive) {
  let view = null;
  const session = await Session.open(id, () => alive() && view.update());
  view = new Directing(session);
  await view.open(main);
  view.update();
  return () => {
    session.close();
    view.close();
  };
}

function scoreBox(score) {
  if (!score) return h("p", { class: "hint" }, "There was no target to compare with.");
  return h("div", { class: "score" },
    h("div", {}, h("b", {}, percent(score.f1)), h("span", {}, "F1, after the best rotation and shift")),
    h("div", {}, h("b", {}, `${score.right} of ${score.wanted}`), h("span", {}, "blocks of the target stand")),
    h("div", {}, h("b", {}, String(score.built)), h("span", {}, "blocks were built")));
}

class Directing {
  constructor(session) {
    this.session = session;
    this.region = new Region({ label: "What stands", edit: (action) => this.edits.push(action) });
    this.target = new Region({ label: "Target", small: true });
    this.eyes = h("input", { type: "checkbox" });
    this.eyes.addEventListener("change", () => this.region.setPose(session.state.pose, this.eyes.checked));
    this.talk = h("div", {});
    this.foot = h("div", {});
    this.bar = h("div", { class: "bar" });
    this.edits = [];
    this.region.setEditable(false);
  }

  async open(main) {
    const { select, notes } = await picker("minecraft");
    const draft = `draft-${this.session.data.id}`;
    this.players = select;
    this.text = h("textarea", { rows: 3, maxlength: 20000, placeholder: "Build a row of three red blocks in the middle." });
    this.text.value = localStorage.getItem(draft) ?? "";
    this.text.addEventListener("input", () => localStorage.setItem(draft, this.text.value));
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.say(event);
    });
    this.send = h("button", { class: "button primary", type: "submit" }, "Say it");
    this.undo = button("Undo", () => this.session.send({ type: "undo" }));
    this.end = button("Finish", () => this.session.send({ type: "end" }));
    this.again = button("Let it answer", () => this.answer());
    this.reply = h("div", { class: "reply", "aria-live": "polite" });
    const { target } = this.session.state;
    this.form = h("form", { onsubmit: (event) => this.say(event) }, field("Builder", select), field("Say to the Builder", this.text, "Enter sends it."), h("div", { class: "row" }, this.send, this.again, this.undo, this.end));
    main.replaceChildren(
      h("div", { class: "head" }, h("h1", {}, "Direct a model"), h("a", { class: "button small", href: "#/build" }, "All games"),
        h("p", {}, "Tell the Builder what to build, in as many messages as you like. Undo takes the last one back, with everything that followed.")),
      h("div", { class: "two" },
        h("section", { class: "card", "aria-label": "What stands" }, this.bar, this.region.element, h("div", { class: "bar foot" }, h("label", { class: "check" }, this.eyes, "Through the builder\u2019s eyes"), this.region.tools)),
        h("div", { class: "stack" },
          target.blocks.length ? h("section", { class: "card" }, h("h2", {}, `Target ${target.name}`), this.target.element, h("div", { class: "bar foot" }, this.target.tools)) : null,
          h("section", { class: "card" }, h("h2", {}, "Dialogue"), this.talk, this.form, notes, this.reply, this.foot))));
    this.target.show(target.blocks);
  }

  showTalk() {
    const list = talkList(this.session.state.turns);
    this.talk.replaceChildren(list);
    list.scrollTop = list.scrollHeight;
  }

  // Shows the blocks and marks those that the last actions placed.
  showBlocks(blocks) {
    const last = this.session.state.turns.findLast((turn) => turn.actions);
    this.region.show(blocks, new Set((last?.actions ?? []).map((action) => key(action.slice(2)))));
    this.region.setPose(this.session.state.pose, this.eyes.checked);
  }

  close() {
    this.region.dispose();
    this.target.dispose();
  }

  update() {
    const { state } = this.session;
    if (this.correcting) return;
    this.showTalk();
    this.showBlocks(state.blocks);
    const over = state.phase === "finished";
    const waits = state.turns.at(-1)?.speaker === "Architect";
    this.form.hidden = over;
    this.undo.disabled = !state.turns.length;
    this.again.hidden = !waits;
    this.send.hidden = waits;
    if (over) {
      this.reply.replaceChildren();
      this.foot.replaceChildren(scoreBox(state.score));
    }
  }

  async say(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (!text || this.busy || this.send.hidden) return;
    this.busy = true;
    if (await this.session.send({ type: "say", text })) {
      this.text.value = "";
      localStorage.removeItem(`draft-${this.session.data.id}`);
      this.busy = false;
      await this.answer();
    }
    this.busy = false;
  }

  // The players in `asked` have already answered the Architect's last words; what they built is taken back.
  async answer(model = this.players.value, asked = []) {
    if (this.busy || this.correcting) return;
    this.busy = true;
    this.again.disabled = true;
    if (asked.length && !(await this.session.send({ type: "again" }))) {
      this.busy = false;
      return;
    }
    const request = this.request(model);
    const began = performance.now();
    const answer = await waiting(this.reply, model, this.session.answer(model));
    const all = [...asked, model];
    const another = await anotherButton("minecraft", all, (next) => this.answer(next, all));
    const view = answer ? answerView(answer, (performance.now() - began) / 1000) : h("p", { class: "warn" }, `${model} did not answer.`);
    this.reply.replaceChildren(view, h("div", { class: "row" }, answer ? button("Correct it", () => this.correct(request, answer)) : null, another));
    this.again.disabled = false;
    this.busy = false;
    this.text.focus();
  }

  // The task API's request for an answer to what the Architect said last.
  request(model) {
    const turns = this.session.state.turns.map(({ by, ...turn }) => turn);
    return { task: "minecraft", model, instruction: turns.at(-1).text, history: turns.slice(0, -1), blocks: this.session.state.blocks, pose: this.session.state.pose };
  }

  correct(request, answer) {
    this.correcting = true;
    this.edits = [];
    this.region.setEditable(true);
    this.region.show(request.blocks);
    this.bar.replaceChildren(kit(this.region));
    const end = () => {
      this.correcting = false;
      this.region.setEditable(false);
      this.bar.replaceChildren();
      this.reply.replaceChildren();
      this.update();
    };
    this.reply.replaceChildren(h("div", { class: "notice" },
      h("p", {}, h("strong", {}, "Build what it should have built"), ` after \u201c${request.instruction.slice(0, 200)}\u201d. A click places a block; a click with Shift, or with Remove checked, takes one away.`),
      h("div", { class: "row" },
        button("Save as a training row", async () => {
          try {
            const saved = await ask("POST", "/page/corrections", { request, actions: this.edits, by: answer.model });
            const actions = this.edits;
            end();
            await this.session.send({ type: "build", actions });
            toast(`Row ${saved.rows} of ${saved.file}`);
          } catch (error) {
            toast(error.message, true);
          }
        }, { class: "button primary" }),
        button("From the start", () => { this.edits = []; this.region.show(request.blocks); }),
        button("Cancel", end))));
    this.region.box.focus();
  }
}
