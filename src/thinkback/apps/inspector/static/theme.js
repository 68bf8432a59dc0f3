// Runs before the first paint, so that a chosen theme never flashes.
(() => {
  const chosen = (() => {
    try {
      return localStorage.getItem("thinkback-theme");
    } catch {
      return null;
    }
  })();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
