// Light, dark, or as the system says; kept from visit to visit.

const THEMES = ["auto", "light", "dark"];
const place = document.getElementById("theme");

export function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  place.textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // a page from a file may keep nothing
  }
}

function kept() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

export function startTheme() {
  setTheme(THEMES.includes(kept()) ? kept() : "auto");
  place.addEventListener("click", nextTheme);
}
