// Runs before the first paint, so that the page does not flash in other colors.
const kept = localStorage.getItem("theme");
if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
