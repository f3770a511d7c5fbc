// Choosing rows of a table: how many are chosen, all of them at once, and what may be done once one is.
(function () {
  "use strict";
  var assessor = window.assessor;

  function boxes(scope) {
    return assessor.all("input[type=checkbox][data-select-row]:not(:disabled)", scope);
  }

  function plural(count, source) {
    var language = document.documentElement.lang || "en";
    var kind = new Intl.PluralRules(language).select(count);
    var sentence = kind === "one" ? source.dataset.one : source.dataset.other;
    return (sentence || "").replace("{count}", count.toLocaleString(language));
  }

  function refreshSelection(scope) {
    var rows = boxes(scope);
    var chosen = rows.filter(function (box) {
      return box.checked;
    }).length;
    assessor.all("[data-select-all]", scope).forEach(function (box) {
      box.checked = chosen > 0 && chosen === rows.length;
      box.indeterminate = chosen > 0 && chosen < rows.length;
    });
    assessor.all("[data-select-count]", scope).forEach(function (count) {
      var sentence = chosen ? plural(chosen, count) : count.dataset.none;
      if (count.textContent !== sentence) count.textContent = sentence;
    });
    assessor.all("[data-needs-selection]", scope).forEach(function (bar) {
      assessor.all("button, select, input", bar).forEach(function (control) {
        control.disabled = chosen === 0;
      });
      bar.classList.toggle("is-awake", chosen > 0);
    });
    if (chosen && scope.dataset.confirmOther) {
      scope.dataset.confirm = plural(chosen, { dataset: { one: scope.dataset.confirmOne, other: scope.dataset.confirmOther } });
    }
    rows.forEach(function (box) {
      var row = box.closest("tr");
      if (row) row.classList.toggle("is-selected", box.checked);
    });
  }

  assessor.on("change", "[data-select-all]", function (box) {
    var scope = assessor.find(box.dataset.selectAll) || document;
    boxes(scope).forEach(function (row) {
      row.checked = box.checked;
    });
    refreshSelection(scope);
  });

  assessor.on("change", "[data-select-row]", function (box) {
    refreshSelection(box.closest("[data-selection]") || document);
  });

  assessor.onWake("[data-selection]", refreshSelection);
})();
