// The build region of Minecraft in three dimensions: 11 x 9 x 11 cells, x and z from -5 to 5, y from 1. A block at x fills [x, x + 1).
// At yaw 0 the builder looks along +z, with +x on the left.
import { button, h } from "./dom.js";
import * as THREE from "../vendor/three.module.min.js";
import { OrbitControls } from "../vendor/OrbitControls.js";

const COLORS = ["red", "orange", "yellow", "green", "blue", "purple"];
const PAINT = { red: "#cf2f35", orange: "#f08a1c", yellow: "#f6d32b", green: "#3f9e4a", blue: "#2f6fd6", purple: "#8e49bf" };
const SIDE = 5;
const HEIGHT = 9;
const TOUCHING = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const EYES = 1.62;

export const key = ([x, y, z]) => `${x},${y},${z}`;
const inRegion = ([x, y, z]) => Math.abs(x) <= SIDE && Math.abs(z) <= SIDE && y >= 1 && y <= HEIGHT;

// The blocks after an action; null if it cannot be carried out.
function applied(blocks, [kind, color, x, y, z]) {
  const here = blocks.findIndex((block) => block[0] === x && block[1] === y && block[2] === z);
  if (kind === "remove") return here < 0 ? null : blocks.filter((_, n) => n !== here);
  if (here >= 0 || !inRegion([x, y, z])) return null;
  const there = new Set(blocks.map(key));
  if (y !== 1 && !TOUCHING.some(([dx, dy, dz]) => there.has(key([x + dx, y + dy, z + dz])))) return null;
  return [...blocks, [x, y, z, color]];
}

export const after = (blocks, actions) => actions.reduce((now, action) => applied(now, action) ?? now, blocks);

function described(blocks) {
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
  constructor({ label = "Build region", small = false } = {}) {
    this.name = label;
    this.blocks = [];
    this.pose = null;
    this.looks = false;
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
    this.box.setAttribute("role", "img");
    this.describe();
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
    this.box.addEventListener("keydown", (event) => this.press(event));
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

  describe() {
    this.box.setAttribute("aria-label", `${this.name}: ${described(this.blocks)}`);
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

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const turn = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
    if (!turn) return;
    event.preventDefault();
    this.orbit(turn, 1);
  }

  dispose() {
    this.sizes?.disconnect();
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.controls?.dispose();
    this.renderer?.dispose();
    this.renderer?.forceContextLoss();
  }
}
