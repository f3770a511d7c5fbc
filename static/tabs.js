// Tabs: anchors to sections become the ARIA pattern.
(function () {
  "use strict";
  var assessor = window.assessor;

  function showTab(tabs, chosen, focus) {
    tabs.forEach(function (tab) {
      var is = tab === chosen;
      tab.setAttribute("aria-selected", is ? "true" : "false");
      tab.tabIndex = is ? 0 : -1;
      var panel = document.getElementById(tab.getAttribute("aria-controls"));
      if (panel) panel.hidden = !is;
    });
    if (focus) chosen.focus();
  }

  function wakeTabs(list) {
    if (list.getAttribute("role") === "tablist") return;
    var tabs = assessor.all("a[href^='#']", list);
    list.setAttribute("role", "tablist");
    tabs.forEach(function (tab) {
      var panel = document.getElementById(tab.hash.slice(1));
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", tab.hash.slice(1));
      if (!panel) return;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", function (event) {
        event.preventDefault();
        showTab(tabs, tab);
      });
    });
    list.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length }[event.key];
      var at = tabs.indexOf(document.activeElement);
      if (!step || at < 0) return;
      event.preventDefault();
      var next = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1 : at + step;
      showTab(tabs, tabs[(next + tabs.length) % tabs.length], true);
    });
    showTab(tabs, tabWithError(tabs) || tabNamedByAddress(tabs) || tabNamedByPage(tabs) || tabs[0]);
  }

  function tabWithError(tabs) {
    return tabs.find(function (tab) {
      var panel = document.getElementById(tab.hash.slice(1));
      return panel && panel.querySelector("[aria-invalid='true']");
    });
  }

  function tabNamedByAddress(tabs) {
    return tabs.find(function (tab) {
      return tab.hash === window.location.hash;
    });
  }

  function tabNamedByPage(tabs) {
    return tabs.find(function (tab) {
      return tab.hasAttribute("data-tab-current");
    });
  }

  assessor.onWake("[data-tabs]", wakeTabs);
})();
