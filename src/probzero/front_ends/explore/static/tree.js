// Which part of a search's graph is shown as a tree, and where its nodes stand. The places are those of the whole search,
// so that nothing moves while one steps through its batches.

export const NODE = { width: 104, height: 36 };
const ACROSS = 158; // from a node to its child
const DOWN = 46; // from a leaf to the next
const FIRST = 8; // moves of the root that are shown at once

/** The state of a flow after a number of batches: what its frames say, added up. */
export function after(flow, batches) {
  const nodes = flow.nodes.map(() => ({ value: null, rest: 1, closed: false, fresh: false }));
  const edges = flow.edges.map(() => ({ taken: 0, now: 0, weight: 0 }));
  flow.frames.slice(0, batches + 1).forEach((frame, count) => {
    const now = count === batches;
    for (const [edge, particles] of frame.flow) {
      edges[edge].taken += particles;
      if (now) edges[edge].now = particles;
    }
    for (const [edge, weight] of frame.weight) edges[edge].weight = weight;
    for (const [node, win, draw, loss, rest] of frame.value) {
      nodes[node].fresh = now && nodes[node].value === null;
      Object.assign(nodes[node], { value: [win, draw, loss], rest });
    }
    for (const node of frame.closed) nodes[node].closed = true;
  });
  return { nodes, edges };
}

/** A tree in a flow's graph: each node hangs from the parent from which most particles came. */
export function asTree(flow) {
  const taken = after(flow, flow.frames.length - 1).edges.map((edge) => edge.taken);
  const into = flow.nodes.map(() => null);
  flow.edges.forEach(([, to], edge) => {
    if (into[to] === null || taken[edge] > taken[into[to]]) into[to] = edge;
  });
  const children = flow.nodes.map(() => []);
  into.forEach((edge) => edge !== null && children[flow.edges[edge][0]].push(edge));
  for (const edges of children) edges.sort((one, two) => taken[two] - taken[one] || one - two);
  const path = (node) => (into[node] === null ? [] : [...path(flow.edges[into[node]][0]), flow.edges[into[node]][2]]); // moves from the root
  const depth = flow.nodes.map(() => 0);
  const visit = (node) => {
    for (const edge of children[node]) {
      depth[flow.edges[edge][1]] = depth[node] + 1;
      visit(flow.edges[edge][1]);
    }
  };
  visit(0);
  return { into, children, depth, taken, path };
}

/** The nodes to show: from the root on those that most particles reached, at most `most`, `width` of a node (of the root
 * more) and `deep` plies down; `opened` nodes show all their children, `folded` ones none. */
export function visible(flow, tree, { most, width, deep, opened, folded }) {
  const shown = new Set([0]);
  const waiting = [];
  const offer = (node) => {
    if (folded.has(node)) return;
    const all = opened.has(node);
    if (!all && tree.depth[node] >= deep) return;
    const first = all ? undefined : node === 0 ? FIRST : width;
    waiting.push(...tree.children[node].slice(0, first).map((edge) => ({ edge, all: all || node === 0 })));
  };
  offer(0);
  while (waiting.length) {
    waiting.sort((one, two) => Number(two.all) - Number(one.all) || tree.taken[two.edge] - tree.taken[one.edge] || one.edge - two.edge);
    const { edge, all } = waiting.shift();
    if (shown.size >= most && !all) break;
    shown.add(flow.edges[edge][1]);
    offer(flow.edges[edge][1]);
  }
  return shown;
}

/** Where the shown nodes stand, and how large the whole is. */
export function places(flow, tree, shown) {
  const at = new Map();
  let leaves = 0;
  let deepest = 0;
  const place = (node) => {
    const below = tree.children[node].map((edge) => flow.edges[edge][1]).filter((child) => shown.has(child));
    deepest = Math.max(deepest, tree.depth[node]);
    const rows = below.map(place);
    const row = rows.length ? (rows[0] + rows.at(-1)) / 2 : leaves++;
    at.set(node, { x: tree.depth[node] * ACROSS, y: row * DOWN });
    return row;
  };
  place(0);
  return { at, width: deepest * ACROSS + NODE.width, height: leaves * DOWN };
}
