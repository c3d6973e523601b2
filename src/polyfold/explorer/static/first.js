// Runs before anything is painted, so that dark pages do not flash: the theme that was chosen last, or the system's.
document.documentElement.dataset.theme =
  localStorage.getItem("polyfold-theme") ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
