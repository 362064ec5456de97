// The build region of Minecraft in three dimensions: 11 x 9 x 11 cells, x and z from -5 to 5, y from 1. A block at x fills [x, x + 1).
// At yaw 0 the builder looks along +z, with +x on the left.
import { announce, button, h } from "./dom.js";
import * as THREE from "../vendor/three.module.min.js";
import { OrbitControls } from "../vendor/OrbitControls.js";

export const COLORS = ["red", "orange", "yellow", "green", "blue", "purple"];
export const PAINT = { red: "#cf2f35", orange: "#f08a1c", yellow: "#f6d32b", green: "#3f9e4a", blue: "#2f6fd6", purple: "#8e49bf" };
const SIDE = 5;
const HEIGHT = 9;
const TOUCHING = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const EYES = 1.62;

export const key = ([x, y, z]) => `${x},${y},${z}`;
export const inRegion = ([x, y, z]) => Math.abs(x) <= SIDE && Math.abs(z) <= SIDE && y >= 1 && y <= HEIGHT;

// The blocks after an action; null if it cannot be carried out.
export function applied(blocks, [kind, color, x, y, z]) {
  const here = blocks.findIndex((block) => block[0] === x && block[1] === y && block[2] === z);
  if (kind === "remove") return here < 0 ? null : blocks.filter((_, n) => n !== here);
  if (here >= 0 || !inRegion([x, y, z])) return null;
  const there = new Set(blocks.map(key));
  if (y !== 1 && !TOUCHING.some(([dx, dy, dz]) => there.has(key([x + dx, y + dy, z + dz])))) return null;
  return [...blocks, [x, y, z, color]];
}

export const after = (blocks, actions) => actions.reduce((now, action) => applied(now, action) ?? now, blocks);

export function described(blocks) {
  if (!blocks.length) return "empty build region";
  const counts = COLORS.map((color) => [blocks.filter((block) => block[3] === color).length, color]).filter(([count]) => count);
  return `${blocks.length} block${blocks.length === 1 ? "" : "s"}: ${counts.map(([count, color]) => `${count} ${color}`).join(", ")}`;
}

const CUBE = new THREE.BoxGeometry(0.98, 0.98, 0.98);
const EDGES = new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1));
const MATERIALS = Object.fromEntries(COLORS.map((color) => [color, new THREE.MeshLambertMaterial({ color: PAINT[color] })]));
const DARK = new THREE.LineBasicMaterial({ color: 0x1b1626, transparent: true, opacity: 0.55 });
const BRIGHT = new THREE.LineBasicMaterial({ color: 0xffffff });

export class Region {
  constructor({ label = "Build region", small = false, edit = null } = {}) {
    this.name = label;
    this.blocks = [];
    this.brush = "red";
    this.edit = edit;
    this.pose = null;
    this.looks = false;
    this.cursor = [0, 1, 0];
    this.note = h("p", { hidden: true });
    this.box = h("div", { class: small ? "scene small" : "scene", tabindex: "0" }, this.note);
    this.tools = h("div", { class: "row", role: "group", "aria-label": `${label}: view` },
      [["Turn left", "\u21ba", () => this.orbit(-0.4, 1)], ["Turn right", "\u21bb", () => this.orbit(0.4, 1)], ["Zoom in", "+", () => this.orbit(0, 0.85)], ["Zoom out", "\u2212", () => this.orbit(0, 1.18)]]
        .map(([name, sign, act]) => button(sign, act, { class: "button small", "aria-label": name, title: name })));
    this.element = h("div", {}, this.box);
    try {
      this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
    } catch {
      this.note.hidden = false;
      this.note.textContent = "This browser cannot show 3D (WebGL). The blocks are listed instead.";
      this.describe();
      return;
    }
    this.build();
    this.setEditable(edit !== null);
  }

  build() {
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.box.prepend(this.renderer.domElement);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(45, 1.4, 0.05, 200);
    this.camera.position.set(4.5, 9.5, -12.8);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8d86a8, 1.9));
    const sun = new THREE.DirectionalLight(0xffffff, 1.9);
    sun.position.set(7, 14, -9);
    this.scene.add(sun);
    this.ground = new THREE.Mesh(new THREE.PlaneGeometry(11, 11), new THREE.MeshLambertMaterial({ color: 0xd9d2c4 }));
    this.ground.rotation.x = -Math.PI / 2;
    this.ground.position.set(0.5, 0.995, 0.5);
    this.scene.add(this.ground);
    const grid = new THREE.GridHelper(11, 11, 0x6b6478, 0x9a93a8);
    grid.position.set(0.5, 1, 0.5);
    this.scene.add(grid);
    this.group = new THREE.Group();
    this.scene.add(this.group);
    this.ghost = new THREE.LineSegments(EDGES, new THREE.LineBasicMaterial({ color: 0x111111 }));
    this.ghost.visible = false;
    this.scene.add(this.ghost);
    this.body = new THREE.Group();
    const cone = new THREE.Mesh(new THREE.ConeGeometry(0.28, 0.7, 20), new THREE.MeshLambertMaterial({ color: 0x2a2540 }));
    cone.rotation.x = Math.PI / 2;
    this.body.add(cone, new THREE.Mesh(new THREE.SphereGeometry(0.26, 20, 14), new THREE.MeshLambertMaterial({ color: 0xe9b48a })));
    cone.position.z = 0.45;
    this.body.visible = false;
    this.scene.add(this.body);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.target.set(0.5, 1.5, 0.2);
    this.controls.minDistance = 4;
    this.controls.maxDistance = 34;
    this.controls.maxPolarAngle = Math.PI / 2 - 0.03;
    this.controls.update();
    this.controls.addEventListener("change", () => this.render());
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.box);
    this.fit();
    this.listen();
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  // Draws at most once a frame.
  render() {
    if (this.waiting || !this.renderer) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.renderer.render(this.scene, this.camera);
      this.frames = (this.frames ?? 0) + 1;
    });
  }

  setEditable(on) {
    this.editable = on;
    this.box.setAttribute("role", on ? "application" : "img");
    this.describe();
  }

  describe() {
    const help = this.editable ? ". Arrow keys, Page Up and Page Down move, Enter places, Delete removes, 1 to 6 choose a color" : "";
    this.box.setAttribute("aria-label", `${this.name}: ${described(this.blocks)}${help}`);
    if (!this.renderer) this.note.textContent = `This browser cannot show 3D (WebGL). ${described(this.blocks)}. ${this.blocks.map((block) => `${block[3]} at ${block.slice(0, 3).join(", ")}`).join("; ")}`;
  }

  // `bright` is a set of keys of cells that have just changed.
  show(blocks, bright = new Set()) {
    this.blocks = blocks;
    this.describe();
    if (!this.renderer) return;
    this.group.clear();
    for (const block of blocks) {
      const [x, y, z, color] = block;
      const cube = new THREE.Mesh(CUBE, MATERIALS[color]);
      cube.position.set(x + 0.5, y + 0.5, z + 0.5);
      cube.userData.cell = [x, y, z];
      cube.add(new THREE.LineSegments(EDGES, bright.has(key(block)) ? BRIGHT : DARK));
      this.group.add(cube);
    }
    this.render();
  }

  // Sets where the builder stands and looks, which is drawn as a head or, with `looks`, becomes the view.
  setPose(pose, looks = this.looks) {
    this.pose = pose;
    if (!this.renderer) return;
    if (looks && !this.looks) this.kept = { position: this.camera.position.clone(), fov: this.camera.fov };
    if (!looks && this.looks) {
      this.camera.position.copy(this.kept.position);
      this.camera.fov = this.kept.fov;
      this.camera.updateProjectionMatrix();
      this.controls.enabled = true;
      this.controls.update();
    }
    this.looks = looks && pose !== null;
    this.body.visible = pose !== null && !this.looks;
    if (pose) {
      const yaw = (pose.yaw * Math.PI) / 180;
      const pitch = (pose.pitch * Math.PI) / 180;
      const ahead = new THREE.Vector3(-Math.sin(yaw) * Math.cos(pitch), -Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch));
      const eye = new THREE.Vector3(pose.x, pose.y + EYES, pose.z);
      this.body.position.copy(eye);
      this.body.lookAt(eye.clone().add(ahead));
      if (this.looks) {
        this.controls.enabled = false;
        this.camera.position.copy(eye);
        this.camera.fov = 70;
        this.camera.updateProjectionMatrix();
        this.camera.lookAt(eye.clone().add(ahead));
      }
    }
    this.render();
  }

  orbit(angle, zoom) {
    if (!this.renderer || this.looks) return;
    const away = this.camera.position.clone().sub(this.controls.target);
    away.applyAxisAngle(new THREE.Vector3(0, 1, 0), angle).multiplyScalar(zoom);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
    this.render();
  }

  // The cell to place in and the block to remove under a pointer.
  under(event) {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    ray.setFromCamera(at, this.camera);
    const [hit] = ray.intersectObjects([this.ground, ...this.group.children], false);
    if (!hit) return null;
    if (hit.object === this.ground) return { place: [Math.floor(hit.point.x), 1, Math.floor(hit.point.z)], remove: null };
    const cell = hit.object.userData.cell;
    const out = hit.face.normal;
    return { place: [cell[0] + Math.round(out.x), cell[1] + Math.round(out.y), cell[2] + Math.round(out.z)], remove: cell };
  }

  act(action) {
    const next = applied(this.blocks, action);
    if (next === null) {
      announce("That cannot be done here.");
      return;
    }
    this.show(next, new Set([key(action.slice(2))]));
    announce(`${action[0] === "place" ? `${action[1]} block placed` : "block removed"} at ${action.slice(2).join(", ")}`);
    this.edit?.(action);
  }

  colorAt(cell) {
    return this.blocks.find((block) => key(block) === key(cell))?.[3] ?? null;
  }

  remove(cell) {
    this.act(["remove", this.colorAt(cell), ...cell]);
  }

  listen() {
    const canvas = this.renderer.domElement;
    let down = null;
    canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      const moved = down === null || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5;
      down = null;
      if (!this.editable || moved) return;
      const found = this.under(event);
      if (!found) return;
      if (this.removing || event.button === 2 || event.shiftKey) {
        if (found.remove) this.remove(found.remove);
      } else if (event.button === 0) this.act(["place", this.brush, ...found.place]);
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointermove", (event) => {
      if (!this.editable || event.buttons) return;
      const found = this.under(event);
      const cell = found && (this.removing ? found.remove : found.place);
      this.point(cell && inRegion(cell) ? cell : null);
    });
    canvas.addEventListener("pointerleave", () => this.editable && this.point(null));
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focus", () => this.editable && this.point(this.cursor));
  }

  point(cell) {
    this.ghost.visible = cell !== null;
    this.note.hidden = cell === null;
    if (cell) {
      this.ghost.position.set(cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5);
      this.note.textContent = `x ${cell[0]}, y ${cell[1]}, z ${cell[2]}${this.colorAt(cell) ? `, ${this.colorAt(cell)}` : ""}`;
    }
    this.render();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.editable) {
      const turn = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
      if (turn) {
        event.preventDefault();
        this.orbit(turn, 1);
      }
      return;
    }
    const step = { ArrowLeft: [1, 0, 0], ArrowRight: [-1, 0, 0], ArrowUp: [0, 0, 1], ArrowDown: [0, 0, -1], PageUp: [0, 1, 0], PageDown: [0, -1, 0] }[event.key];
    if (step) {
      const next = this.cursor.map((value, n) => value + step[n]);
      if (inRegion(next)) this.cursor = next;
      announce(`${this.cursor.join(", ")}: ${this.colorAt(this.cursor) ?? "empty"}`);
    } else if (event.key === "Enter" || event.key === " ") this.act(["place", this.brush, ...this.cursor]);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(this.cursor);
    else if (/^[1-6]$/.test(event.key)) this.choose?.(COLORS[event.key - 1]);
    else return;
    event.preventDefault();
    this.point(this.cursor);
  }

  dispose() {
    this.sizes?.disconnect();
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.controls?.dispose();
    this.renderer?.dispose();
    this.renderer?.forceContextLoss();
  }
}

// Buttons for the six colors, and a box for whether a click removes.
export function kit(region) {
  const group = h("div", { class: "palette", role: "radiogroup", "aria-label": "Block color" });
  const pick = h("input", { type: "checkbox" });
  region.choose = (color, focus) => {
    region.brush = color;
    pick.checked = region.removing = false;
    for (const one of group.children) {
      const on = one.dataset.color === color;
      one.setAttribute("aria-checked", on);
      one.tabIndex = on ? 0 : -1;
      if (on && focus) one.focus();
    }
  };
  COLORS.forEach((color, n) => {
    const one = button("", () => region.choose(color), { class: "swatch block", role: "radio", "data-color": color, "aria-label": color, title: `${color} (${n + 1})` });
    one.style.setProperty("--block", PAINT[color]);
    group.append(one);
  });
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    region.choose(COLORS[(COLORS.indexOf(region.brush) + step + COLORS.length) % COLORS.length], true);
  });
  pick.addEventListener("change", () => (region.removing = pick.checked));
  region.choose(region.brush);
  return h("div", { class: "row" }, group, h("label", { class: "check" }, pick, "Remove"));
}
