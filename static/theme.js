// Runs before the first paint: the chosen theme, or the system's, and the mark that scripts run.
(function () {
  "use strict";
  var root = document.documentElement;
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      var theme = localStorage.getItem("theme");
      return theme === "light" || theme === "dark" ? theme : "system";
    } catch (refused) {
      return "system"; // storage may be switched off in the browser
    }
  }

  function show() {
    var theme = chosen();
    root.setAttribute("data-theme-choice", theme);
    root.setAttribute("data-bs-theme", theme === "system" ? (dark.matches ? "dark" : "light") : theme);
  }

  window.assessorTheme = {
    choose: function (theme) {
      try {
        localStorage.setItem("theme", theme);
      } catch (refused) {
        root.setAttribute("data-bs-theme", theme === "dark" ? "dark" : "light");
      }
      show();
    },
  };

  root.classList.add("js");
  show();
  dark.addEventListener("change", show);
  window.addEventListener("storage", show);
})();
