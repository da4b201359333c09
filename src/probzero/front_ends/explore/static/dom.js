// Making elements, and numbers as people read them.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "style") for (const [key, to] of Object.entries(value)) node.style.setProperty(key, to);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (tag, props = {}, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props = {}, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export const button = (label, act, props = {}) => el("button", { type: "button", on: { click: act }, ...props }, label);

/** A choice of one among options [value, label], as buttons side by side. */
export function choice(label, options, chosen, act) {
  const made = options.map(([value, text]) =>
    button(text, () => act(value), { "aria-pressed": String(value === chosen), class: "option" }),
  );
  return el("div", { class: "choice", role: "group", "aria-label": label }, el("span", { class: "quiet" }, label), made);
}

/** A value from −1 to 1, or any other number with a sign. */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : (value > 0 ? "+" : "−") + text;
}

/** A share from 0 to 1 in whole percent; what is less than one is not nothing. */
export function percent(share) {
  if (share > 0 && share < 0.01) return "<1%";
  return `${Math.round(100 * share)}%`;
}

export const plural = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
