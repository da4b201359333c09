// The particle flow of one search, batch by batch: what one chooses to see of it.

import { button, choice, el, percent, plural, signed } from "explore/dom.js";
import { budgets } from "explore/moves.js";
import { drawSearch, legend } from "explore/picture.js";
import { after, asTree, visible } from "explore/tree.js";

const SIZES = [[12, "few"], [24, "some"], [60, "many"]]; // positions shown
const DEEP = { 12: 3, 24: 4, 60: 8 }; // plies shown, unless more are asked for
const BEAT = 900; // ms a batch, when they are played
const METHOD =
  "At every position the particles split among its moves in proportion to policy_search, until each comes to a position that is new. " +
  "The network evaluates those, and their values flow back up: winner_prob turns win, draw and loss of the moves into the chance that each is the best one, which is how the next batch splits.";

/** Draws a flow into a panel and keeps what one has done with it, as long as the flow is the same. */
export class FlowView {
  /** `visit` puts the position that some moves lead to on the board, and is null where that cannot be. */
  constructor(session, visit) {
    Object.assign(this, { session, visit, flow: null, playing: null, most: 24 });
  }

  show(panel, flow) {
    if (flow !== this.flow) {
      this.stop();
      Object.assign(this, { flow, tree: asTree(flow), opened: new Set(), folded: new Set(), chosen: 0 });
      this.batch = flow.frames.length - 1;
    }
    this.panel = panel;
    this.draw();
  }

  get last() {
    return this.flow.frames.length - 1;
  }

  step(by) {
    this.stop();
    this.batch = Math.min(Math.max(this.batch + by, 0), this.last);
    this.draw();
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
  }

  /** Play the batches one after another, from the first if the last is shown. */
  toggle() {
    if (this.playing) {
      this.stop();
      return this.draw();
    }
    if (this.batch === this.last) this.batch = 0;
    this.playing = setInterval(() => {
      if (!this.panel.isConnected || this.session.view !== "search") return this.stop();
      if (this.batch === this.last) this.stop();
      else this.batch += 1;
      this.draw();
    }, BEAT);
    this.draw();
  }

  draw() {
    const focused = document.activeElement?.id;
    const scrolled = this.panel.querySelector(".tree")?.scrollLeft ?? 0;
    const state = after(this.flow, this.batch);
    const side = this.session.about.sides[this.session.turn];
    this.panel.replaceChildren(this.tools(), this.summary(state), el("p", { class: "note method" }, METHOD), this.picture(state), legend(side), this.detail(state));
    this.panel.querySelector(".tree").scrollLeft = scrolled;
    if (focused && this.panel.querySelector(`#${CSS.escape(focused)}`)) document.getElementById(focused).focus();
  }

  tools() {
    const slider = el("input", {
      type: "range", id: "batch", min: 0, max: this.last, value: this.batch, "aria-label": "Batch",
      on: { input: (event) => this.step(Number(event.target.value) - this.batch) },
    });
    return el(
      "div",
      { class: "tools" },
      el(
        "div",
        { class: "steps" },
        button("‹", () => this.step(-1), { id: "batch-back", title: "Batch before ([)", "aria-label": "Batch before" }),
        slider,
        button("›", () => this.step(1), { id: "batch-on", title: "Next batch (])", "aria-label": "Next batch" }),
        button(this.playing ? "Pause" : "Play", () => this.toggle(), { id: "batch-play", title: "Play the batches (Space)" }),
      ),
      budgets(this.session, 1),
      choice("Show", SIZES, this.most, (most) => (Object.assign(this, { most }), this.draw())),
    );
  }

  summary(state) {
    const frame = this.flow.frames[this.batch];
    const roots = new Set(this.tree.children[0]);
    const sent = frame.flow.filter(([edge]) => roots.has(edge)).reduce((sum, [, count]) => sum + count, 0);
    const fresh = state.nodes.filter((node) => node.fresh).length;
    const said =
      this.batch === 0
        ? "The position was evaluated; no particle was sent yet."
        : sent === 0
          ? "Nothing was left to search."
          : `${plural(sent, "particle")} went down from the root and reached ${plural(fresh, "new position")}; then the values came back up.`;
    return el("p", { class: "lead" }, el("b", { class: "figure" }, `Batch ${this.batch}`), ` of ${this.last}. `, said);
  }

  picture(state) {
    const { flow, tree, session, chosen, opened, folded } = this;
    const shown = visible(flow, tree, { most: this.most, width: 4, deep: DEEP[this.most], opened, folded });
    const drawn = drawSearch(flow, tree, shown, state, {
      about: session.about, turn: session.turn, chosen, folded,
      choose: (node) => (Object.assign(this, { chosen: node }), this.draw()),
      fold: (node, open) => this.fold(node, open),
    });
    drawn.classList.toggle("playing", this.playing !== null);
    return drawn;
  }

  fold(node, open) {
    const [to, from] = open ? [this.opened, this.folded] : [this.folded, this.opened];
    from.delete(node);
    to.add(node);
    this.draw();
  }

  detail(state) {
    const { flow, tree, chosen, session } = this;
    const node = state.nodes[chosen];
    if (!node.value) return el("p", { class: "detail quiet" }, "The chosen position is not reached yet.");
    const side = session.about.sides[(session.turn + tree.depth[chosen]) % 2];
    const moves = flow.edges.map((one, edge) => ({ edge, one, ...state.edges[edge] })).filter(({ one, taken }) => one[0] === chosen && taken);
    moves.sort((one, two) => two.weight - one.weight || two.taken - one.taken);
    const value = ([win, , loss]) => (tree.depth[chosen] % 2 ? win - loss : loss - win); // of a child, for who is to move at the root
    const rows = moves.map(({ one, weight, taken, now }) =>
      el("tr", {}, el("th", { scope: "row" }, one[2]), [percent(weight), String(taken), now ? `+${now}` : "", signed(value(state.nodes[one[1]].value))].map((text) => el("td", { class: "number" }, text))),
    );
    const heads = ["Move", "winner_prob", "particles", "this batch", "value"];
    const [win, draw, loss] = node.value.map((share) => percent(share));
    const path = tree.path(chosen);
    return el(
      "div",
      { class: "detail" },
      el("h3", {}, path.join(" ") || "Root"),
      el("p", {}, `${side} to move: win ${win}, draw ${draw}, loss ${loss}. `, known(node)),
      rows.length ? el("table", {}, el("thead", {}, el("tr", {}, heads.map((text, k) => el("th", { scope: "col", class: k ? "number" : "" }, text)))), el("tbody", {}, rows)) : null,
      path.length && this.visit ? button("Put this position on the board", () => this.visit(path), { id: "visit", class: "more" }) : null,
    );
  }
}

/** What there is to say of the moves that were not explored. */
function known({ closed, rest }) {
  if (closed) return "Everything below is known, so this is exact.";
  return rest > 0 ? `Moves not explored yet hold ${percent(rest)} of the policy.` : "All its moves are explored.";
}
