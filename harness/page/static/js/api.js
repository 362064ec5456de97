// Requests to the server, and sessions that survive a lost connection.
import { toast } from "./dom.js";

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error?.message ?? body?.detail?.[0]?.msg ?? `the server answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

const offline = () => document.getElementById("offline");

// A request; a patient one is sent again until the server answers, for example after it has restarted.
export async function ask(method, path, body, { patient = false, signal } = {}) {
  const options = { method, signal, headers: body === undefined ? {} : { "content-type": "application/json" } };
  if (body !== undefined) options.body = JSON.stringify(body);
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    let response;
    try {
      response = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      offline().textContent = "The server does not answer. What you do is sent as soon as it does.";
      offline().hidden = false;
      if (!patient) throw new Error("The server does not answer: is harness app still running?");
      await new Promise((wake) => setTimeout(wake, wait));
      continue;
    }
    offline().hidden = true;
    const answer = await response.json().catch(() => null);
    if (!response.ok) throw new Refused(response.status, answer);
    return answer;
  }
}

let started;
// Players and sources, asked for once.
export function start() {
  if (!started) {
    started = ask("GET", "/page/start");
    started.catch(() => (started = undefined));
  }
  return started;
}

// Begin a session and go to it.
export async function begin(mode, body) {
  try {
    const session = await ask("POST", "/page/sessions", body);
    location.hash = `#/${mode}/${session.id}`;
  } catch (error) {
    toast(error.message, true);
  }
}

const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// A session on the server: events are sent one after the other, each for the version that it was made for.
export class Session {
  constructor(data, changed) {
    this.data = data;
    this.changed = changed;
    this.queue = Promise.resolve();
    this.seen = () => document.visibilityState === "visible" && this.refresh();
    document.addEventListener("visibilitychange", this.seen);
  }

  static async open(id, changed) {
    return new Session(await ask("GET", `/page/sessions/${encodeURIComponent(id)}`), changed);
  }

  close() {
    document.removeEventListener("visibilitychange", this.seen);
  }

  get state() {
    return this.data.state;
  }

  adopt(data) {
    this.data = data;
    this.changed(this);
  }

  async refresh() {
    const now = await ask("GET", `/page/sessions/${this.data.id}`).catch(() => null);
    if (now && now.version > this.data.version) this.adopt(now);
  }

  // Resolves with true if the event happened. `quiet` events do not draw the page anew.
  send(event, quiet = false) {
    const step = async () => {
      const data = await ask("POST", `/page/sessions/${this.data.id}`, { version: this.data.version, id: newId(), event }, { patient: true });
      if (quiet) this.data = data;
      else this.adopt(data);
      return true;
    };
    this.queue = this.queue.then(step).catch((error) => {
      if (error.status === 409 && error.body?.session) {
        this.adopt(error.body.session);
        this.refresh();
      }
      toast(error.message, true);
      return undefined;
    });
    return this.queue;
  }
}
