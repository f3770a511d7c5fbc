// A file field becomes a place to drop a file on. The field itself lies over the whole place, unseen, so that the
// keyboard, the screen reader and the browser's own picker meet what they know.
(function () {
  "use strict";
  var assessor = window.assessor;
  var PLACE = "[data-file-drop]";

  function inputOf(place) {
    return place.querySelector("input[type=file]");
  }

  // What is wrong with the files, in the reader's language; nothing where one may be sent.
  function problem(place, files) {
    if (files.length > 1) return place.dataset.tooMany;
    var name = files[0].name.toLowerCase();
    var isAccepted = inputOf(place).accept.split(",").some(function (ending) {
      return name.endsWith(ending);
    });
    if (!isAccepted) return name.endsWith(".xls") ? place.dataset.oldExcel : place.dataset.wrongType;
    return files[0].size > Number(place.dataset.mostBytes) ? place.dataset.tooLarge : "";
  }

  function tell(place, sentence) {
    var input = inputOf(place);
    var error = document.getElementById(input.id + "-error");
    error.querySelector("span").textContent = sentence;
    error.hidden = !sentence;
    place.closest(".field").classList.toggle("has-error", Boolean(sentence));
    input.setAttribute("aria-describedby", input.id + "-help" + (sentence ? " " + error.id : ""));
    if (sentence) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    assessor.announce(sentence);
  }

  function sizeOf(file) {
    var unit = file.size < 1e3 ? "byte" : file.size < 1e6 ? "kilobyte" : "megabyte";
    var number = file.size / { byte: 1, kilobyte: 1e3, megabyte: 1e6 }[unit];
    var options = { style: "unit", unit: unit, maximumFractionDigits: number < 10 ? 1 : 0 };
    if (unit === "byte") options.unitDisplay = "long"; // the short word has no plural in English
    return new Intl.NumberFormat(document.documentElement.lang, options).format(number);
  }

  function show(place) {
    var file = inputOf(place).files[0];
    place.classList.add("is-awake");
    place.classList.toggle("has-file", Boolean(file));
    place.querySelector("[data-file-name]").textContent = file ? file.name : "";
    place.querySelector("[data-file-size]").textContent = file ? sizeOf(file) : "";
  }

  function take(place, files) {
    var sentence = files.length ? problem(place, files) : "";
    if (sentence) inputOf(place).value = "";
    else if (inputOf(place).files !== files) inputOf(place).files = files;
    tell(place, sentence);
    show(place);
    if (!sentence && files.length) assessor.announce(files[0].name);
  }

  assessor.on("change", PLACE + " input", function (input) {
    take(input.closest(PLACE), input.files);
  });

  function holdsFiles(event) {
    return event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files");
  }

  function point(place) {
    assessor.all(PLACE).forEach(function (each) {
      each.classList.toggle("is-over", each === place);
    });
  }

  // Beside the place a drop does nothing: the browser would leave the page to show the file.
  document.addEventListener("dragover", function (event) {
    if (!holdsFiles(event)) return;
    var place = event.target.closest(PLACE);
    event.preventDefault();
    event.dataTransfer.dropEffect = place ? "copy" : "none";
    point(place);
  });

  document.addEventListener("dragleave", function (event) {
    if (!event.relatedTarget) point(null);
  });

  document.addEventListener("drop", function (event) {
    if (!holdsFiles(event)) return;
    var place = event.target.closest(PLACE);
    event.preventDefault();
    point(null);
    if (!place) return;
    inputOf(place).focus();
    take(place, event.dataTransfer.files);
  });

  assessor.onWake(PLACE, show);
})();
