// The page: one session, drawn anew whenever it changes.

import { drawBoard, drawPlayers } from "explore/board.js";
import { button, choice, el } from "explore/dom.js";
import { FlowView } from "explore/flow.js";
import { GamesView } from "explore/games.js";
import { budgets, byMove, drawMoves, outcome } from "explore/moves.js";
import { Session } from "explore/session.js";
import { EmbeddedSource, Gone, ServerSource } from "explore/source.js";
import { drawStrip, Sweep } from "explore/strip.js";
import { nextTheme, startTheme } from "explore/theme.js";

const TABS = [["moves", "Moves"], ["search", "Search"], ["games", "Games"]];
const KEYS = [
  ["← →", "one move back or on"], ["Home End", "to the first or last position"], ["1 … 9", "play a move of the list"],
  ["Enter", "pass, when nothing else is legal"], ["U", "take back"], ["N", "new game"], ["T", "show or hide the truth"],
  ["W", "sweep the game for mistakes"], ["M", "next mistake"], ["A S G", "moves (analysis), search, games"],
  ["[ ]", "one batch of the search back or on"], ["Space", "play the batches"], ["D", "light or dark"], ["?", "this list"],
];
const PAUSE = 350; // ms before the network answers
const at = (id) => document.getElementById(id);

class Page {
  constructor(source, about) {
    this.session = new Session(source, about, () => this.show());
    this.sweep = new Sweep(this.session, () => this.drawStrip());
    this.flow = new FlowView(this.session, source.plays ? (moves) => this.visit(moves) : null);
    this.games = new GamesView(this.session, (game) => this.load(game));
    this.number = 0; // of the last drawing: what an older one waited for is not drawn
    this.marked = null;
  }

  async begin() {
    at("subject").textContent = this.session.about.subject;
    window.addEventListener("hashchange", () => location.hash !== this.session.address && this.follow());
    document.addEventListener("keydown", (event) => this.key(event));
    await this.follow();
  }

  /** Go where the address says, or to the first position if it leads nowhere. */
  async follow() {
    const { source, about } = this.session;
    if (!location.hash && !source.plays) return this.load(about.first);
    try {
      await this.session.follow(location.hash);
    } catch (error) {
      if (error instanceof Gone) return this.fail(error, () => this.follow());
      await this.run(() => this.session.open({}));
      this.say(`This address leads nowhere: ${error.message} Here is the first position.`);
    }
  }

  /** Do what may fail, and say so if it does. */
  async run(act) {
    try {
      await act();
    } catch (error) {
      this.fail(error, () => this.run(act));
    }
  }

  fail(error, again) {
    if (error instanceof Gone) this.say(error.message, button("Try again", () => (this.say(""), again())));
    else this.say(error.message);
  }

  say(text, ...more) {
    at("notice").replaceChildren(text, ...more, text ? button("×", () => this.say(""), { class: "plain", "aria-label": "Close" }) : "");
    at("notice").hidden = !text;
  }

  async load(game) {
    await this.run(() => this.session.open({ from: game.from, moves: game.moves.split(" ").filter(Boolean), ply: game.opening, record: game }));
    this.session.set({ side: "both", view: "moves", swept: true });
  }

  /** Put the position on the board that some moves lead to from the one that is there. */
  visit(moves) {
    const { session } = this;
    session.side = "both";
    return this.run(() => session.open({ from: session.from, moves: [...session.moves.slice(0, session.ply), ...moves] }));
  }

  play(name) {
    this.say("");
    return this.run(() => this.session.play(name));
  }

  /** Play the move that lands on a square or, if there are several, ask which. */
  choose(names) {
    if (names.length === 1) return this.play(names[0]);
    const [first, ...others] = names.map((name) => button(name, () => this.play(name), { class: "strong" }));
    at("status").replaceChildren("Which? ", first, ...others.flatMap((one) => [" ", one]));
    first.focus();
  }

  async show() {
    const { session } = this;
    const number = ++this.number;
    const current = () => number === this.number;
    history.replaceState(null, "", session.address);
    if (session.swept) this.sweep.begin();
    else this.sweep.forget();
    const told = { thoughts: undefined, truth: undefined };
    this.draw(told);
    if (session.view === "games") await this.run(() => this.games.show(at("panel")));
    if (session.here.over) return;
    await this.run(async () => {
      told.thoughts = await session.source.thoughts(session.here.at, session.particles);
      if (!current()) return;
      this.draw(told);
      if (session.view === "search") await this.showFlow(current);
      else if (session.revealed) {
        told.truth = await session.source.truth(session.here.at);
        if (current()) this.draw(told);
      }
    });
    if (current()) this.answer(told, current);
  }

  async showFlow(current) {
    const { session } = this;
    if (session.particles === 0) {
      const said = "The policy alone searches nothing: choose how many particles to send.";
      at("panel").replaceChildren(el("div", { class: "tools" }, budgets(session, 1)), el("p", { class: "lead quiet" }, said));
      return;
    }
    try {
      const flow = await session.source.flow(session.here.at, session.particles);
      if (current()) this.flow.show(at("panel"), flow);
    } catch (error) {
      if (error instanceof Gone) throw error;
      if (current()) at("panel").replaceChildren(el("p", { class: "lead quiet" }, error.message));
    }
  }

  /** Let the network move, if it is its turn. */
  answer({ thoughts }, current) {
    const { session } = this;
    if (!session.atEnd || session.yours || !thoughts || session.record) return;
    setTimeout(() => current() && this.play(thoughts.best), PAUSE);
  }

  draw({ thoughts, truth }) {
    const { session } = this;
    const { about, here, turn } = session;
    const before = session.ply ? session.line[session.ply - 1].moves.find((one) => one.move === session.moves[session.ply - 1]) : null;
    const networks = session.side === "both" ? ["", ""] : ["first", "second"].map((side) => (side === session.side ? "you" : about.player));
    drawPlayers(at("players"), about, here, { turn, names: session.record ? [session.record.first, session.record.second] : networks });
    const waits = !session.yours && session.atEnd;
    drawBoard(at("board"), about, here, {
      turn,
      thoughts: thoughts && byMove(thoughts),
      truth: session.revealed && truth ? byMove(truth) : null,
      last: before && before.row !== null ? [before.row, before.column] : null,
      enabled: !waits && !here.over,
      play: (names) => this.choose(names),
      looked: (name) => this.mark(name),
    });
    at("status").replaceChildren(...this.status(waits));
    at("controls").replaceChildren(...this.controls());
    this.drawStrip();
    at("tabs").replaceChildren(
      ...TABS.filter(([view]) => about.flows || view !== "search").map(([view, label]) => button(label, () => session.set({ view }), { role: "tab", id: `tab-${view}`, "aria-selected": String(view === session.view), "aria-controls": "panel" })),
    );
    at("panel").dataset.view = session.view;
    if (session.view === "moves") drawMoves(at("panel"), session, { thoughts, truth, play: (name) => this.play(name), marked: this.marked });
    else if (session.view === "search" && here.over) at("panel").replaceChildren(el("p", { class: "lead quiet" }, "The game is over: there is nothing to search."));
    else if (session.view === "search" && !thoughts) at("panel").replaceChildren(el("p", { class: "lead quiet" }, "Searching …"));
  }

  drawStrip() {
    const { session } = this;
    drawStrip(at("strip"), session, this.sweep, { go: (ply) => session.go(ply), start: () => session.set({ swept: true }) });
  }

  status(waits) {
    const { about, here, turn } = this.session;
    const side = about.sides[turn];
    if (here.over) return [`The game is over: ${here.over.result > 0 ? outcome(side, here.over) : outcome(about.sides[1 - turn], { ...here.over, result: -here.over.result })}.`];
    if (waits) return [`${side} is thinking …`];
    const [only] = here.moves;
    if (here.moves.length === 1 && only.row === null) {
      return [`${side} has one move: `, button(only.move, () => this.play(only.move), { id: "only", class: "strong" })];
    }
    return [`${side} to move`];
  }

  controls() {
    const { session } = this;
    const last = session.moves.length;
    const go = (ply, text, label, off) => button(text, () => session.go(ply), { "aria-label": label, title: label, disabled: off });
    const steps = el(
      "div",
      { class: "steps" },
      go(0, "«", "First position", session.ply === 0),
      go(session.ply - 1, "‹", "Move back", session.ply === 0),
      el("span", { class: "count", id: "ply" }, `${session.ply} / ${last}`),
      go(session.ply + 1, "›", "Move on", session.atEnd),
      go(last, "»", "Last position", session.atEnd),
    );
    if (!session.source.plays) return [steps];
    const sides = [["first", session.about.sides[0]], ["second", session.about.sides[1]], ["both", "both"]];
    return [
      el("div", { class: "tools" }, button("New game", () => this.fresh(), { id: "new" }), button("Undo", () => session.undo(), { id: "undo", disabled: session.ply === 0 }), steps),
      choice("You play", sides, session.side, (side) => session.set({ side, record: null })),
    ];
  }

  fresh() {
    this.say("");
    if (this.session.source.plays) this.run(() => this.session.open({}));
  }

  mark(name) {
    this.marked = name;
    for (const row of document.querySelectorAll("#moves tbody tr")) row.setAttribute("aria-selected", String(row.dataset.move === name));
  }

  nextMistake() {
    const { session } = this;
    if (!session.swept) return session.set({ swept: true });
    const plies = this.sweep.mistakes.map((one) => one.ply);
    const next = plies.find((ply) => ply > session.ply) ?? plies[0];
    if (next !== undefined) session.set({ ply: next, revealed: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
    const { session } = this;
    if (event.target.closest("input, select, textarea")) return;
    const views = { a: "moves", ...(session.about.flows ? { s: "search" } : {}), g: "games" };
    const acts = {
      ArrowLeft: () => session.go(session.ply - 1),
      ArrowRight: () => session.go(session.ply + 1),
      Home: () => session.go(0),
      End: () => session.go(session.moves.length),
      u: () => session.source.plays && session.undo(),
      n: () => this.fresh(),
      t: () => session.set({ revealed: !session.revealed }),
      w: () => session.moves.length && session.set({ swept: !session.swept }),
      m: () => this.nextMistake(),
      d: () => nextTheme(),
      "[": () => session.view === "search" && this.flow.flow && this.flow.step(-1),
      "]": () => session.view === "search" && this.flow.flow && this.flow.step(1),
      "?": () => at("help").showModal(),
    };
    const focused = event.target.closest("button, [role=button]");
    if (event.key === "Enter" && !focused) at("only")?.click();
    else if (event.key === " " && !focused && session.view === "search" && this.flow.flow) this.flow.toggle();
    else if (/^[1-9]$/.test(event.key)) document.querySelectorAll("#moves tbody tr")[event.key - 1]?.click();
    else if (event.key in acts) acts[event.key]();
    else if (event.key in views) session.set({ view: views[event.key] });
    else return;
    event.preventDefault();
  }
}

function help() {
  const rows = KEYS.map(([key, text]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, text)));
  at("help").replaceChildren(el("h2", {}, "Keys"), el("table", {}, rows), el("form", { method: "dialog" }, el("button", {}, "Close")));
  at("help-button").addEventListener("click", () => at("help").showModal());
}

async function main() {
  startTheme();
  help();
  const embedded = at("embedded");
  const source = embedded ? new EmbeddedSource(JSON.parse(embedded.textContent)) : new ServerSource();
  const begin = async () => {
    at("notice").hidden = true;
    try {
      await new Page(source, await source.about()).begin();
    } catch (error) {
      at("notice").replaceChildren(error.message, button("Try again", begin));
      at("notice").hidden = false;
    }
  };
  await begin();
}

await main();
