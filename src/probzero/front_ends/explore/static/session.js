// The game on the board: the positions so far, which of them is shown, and how all that stands in the page's address.

import { Refused } from "explore/source.js";

const VIEWS = ["moves", "search", "games"];
const SIDES = ["first", "second", "both"];

export class Session {
  /** `changed` is called whenever there is something else to show. */
  constructor(source, about, changed) {
    Object.assign(this, { source, about, changed });
    this.from = null; // where the game began, if not at the start
    this.moves = [];
    this.line = []; // the position before each move, and the last
    this.ply = 0;
    this.view = VIEWS[0];
    this.side = source.plays ? "first" : "both";
    this.particles = about.particles[about.usual];
    this.record = null; // the game of a record, as long as it is not left
    this.revealed = false; // exact truth is shown
    this.swept = false; // the whole game is
    this.whole = false; // all moves are listed
  }

  get here() {
    return this.line[this.ply];
  }

  get turn() {
    return this.ply % 2; // 0: who moved first is to move
  }

  get yours() {
    return this.side === "both" || SIDES.indexOf(this.side) === this.turn;
  }

  get atEnd() {
    return this.ply === this.moves.length;
  }

  async open({ from = null, moves = [], ply = moves.length, record = null }) {
    const line = await this.source.line(from, moves);
    Object.assign(this, { from, moves, line, record, swept: false });
    this.ply = Math.min(Math.max(ply, 0), moves.length);
    this.changed();
  }

  async play(name) {
    const { ply } = this;
    const move = this.here.moves.find((one) => one.move === name);
    if (!move) throw new Refused(`${name} is not a legal move here.`);
    if (this.moves[ply] === name) return this.go(ply + 1);
    const next = await this.source.position(move.after);
    if (ply !== this.ply) return; // somebody went elsewhere meanwhile
    this.moves = [...this.moves.slice(0, ply), name];
    this.line = [...this.line.slice(0, ply + 1), next];
    Object.assign(this, { ply: ply + 1, record: null, swept: false });
    this.changed();
  }

  go(ply) {
    this.ply = Math.min(Math.max(ply, 0), this.moves.length);
    this.changed();
  }

  /** Take back the last move, and the network's before it, so that you are to move again. */
  undo() {
    let ply = this.ply - 1;
    while (ply > 0 && this.side !== "both" && SIDES[ply % 2] !== this.side) ply -= 1;
    if (ply < 0) return;
    this.moves = this.moves.slice(0, ply);
    this.line = this.line.slice(0, ply + 1);
    Object.assign(this, { record: null, swept: false });
    this.go(ply);
  }

  set(changes) {
    Object.assign(this, changes);
    this.changed();
  }

  get address() {
    const told = new URLSearchParams();
    if (this.from) told.set("from", this.from);
    if (this.moves.length) told.set("moves", this.moves.join(" "));
    if (!this.atEnd) told.set("ply", this.ply);
    if (this.record) told.set("game", this.record.id);
    told.set("view", this.view);
    told.set("you", this.side);
    told.set("particles", this.particles);
    return `#${told}`;
  }

  /** Go where an address says; whatever it says of the view that is not known is left as it is. */
  async follow(address) {
    const told = new URLSearchParams(address.replace(/^#/, ""));
    const known = (name, values) => (values.includes(told.get(name)) ? told.get(name) : null);
    this.view = known("view", VIEWS.filter((view) => view !== "search" || this.about.flows)) ?? this.view;
    if (this.source.plays) this.side = known("you", SIDES) ?? this.side;
    const particles = Number(told.get("particles"));
    if (told.has("particles") && this.about.particles.includes(particles)) this.particles = particles;
    const moves = (told.get("moves") ?? "").split(" ").filter(Boolean);
    const ply = told.has("ply") ? Number(told.get("ply")) : moves.length;
    if (!Number.isInteger(ply) || ply < 0 || ply > moves.length) {
      throw new Refused(`the game has ${moves.length} moves, and no position ${told.get("ply")}.`);
    }
    const id = told.get("game");
    const record = id ? await this.recorded(id, moves) : null;
    await this.open({ from: told.get("from"), moves, ply, record });
  }

  /** Return the recorded game of an id if these are its moves, else nothing: it is only a name. */
  async recorded(id, moves) {
    const record = id.slice(0, id.lastIndexOf("/"));
    const games = await this.source.games(record).catch(() => []);
    return games.find((game) => game.id === id && game.moves === moves.join(" ")) ?? null;
  }
}
