// What the browser does not do by itself. Every page works without this file; it makes the work quicker.
// Sentences come from data- attributes of the page, so that they are in the reader's language.
(function () {
  "use strict";
  var root = document.documentElement;

  function on(type, selector, act, capture) {
    document.addEventListener(
      type,
      function (event) {
        var found = event.target instanceof Element && event.target.closest(selector);
        if (found) act(found, event);
      },
      capture,
    );
  }

  function all(selector, within) {
    return Array.from((within || document).querySelectorAll(selector));
  }

  function find(selector) {
    try {
      return selector ? document.querySelector(selector) : null;
    } catch (unreadable) {
      return null; // a selector with an odd id must not stop the page
    }
  }

  // --- Saying things aloud

  var announcing;

  function announce(sentence) {
    var region = document.getElementById("live-region");
    if (!region || !sentence) return;
    region.textContent = "";
    window.clearTimeout(announcing);
    announcing = window.setTimeout(function () {
      region.textContent = sentence;
    }, 50);
  }

  function troubles() {
    return all("#alerts [data-trouble]");
  }

  // The trouble of one request, in the place of an earlier one; what the last step had to say stays above it.
  // `isPassing`: it is over once another request is answered.
  function showTrouble(sentence, isPassing) {
    var template = document.getElementById("alert-template");
    var stack = document.getElementById("alerts");
    if (!template || !stack || !sentence) return;
    var alert = template.content.firstElementChild.cloneNode(true);
    alert.querySelector("[data-alert-text]").textContent = sentence;
    alert.dataset.trouble = isPassing ? "passing" : "lasting";
    troubles().forEach(function (earlier) {
      earlier.remove();
    });
    stack.append(alert);
  }

  function isTold(sentence) {
    return troubles().some(function (alert) {
      return alert.querySelector("[data-alert-text]").textContent === sentence;
    });
  }

  on("click", "[data-dismiss]", function (button) {
    var alert = button.closest(".alert");
    if (alert) alert.remove();
  });

  // --- Copying

  function copied(button) {
    var label = button.querySelector("[data-copy-label]") || button;
    if (!button.dataset.copyIdle) button.dataset.copyIdle = label.textContent;
    label.textContent = button.dataset.copied || button.dataset.copyIdle;
    announce(button.dataset.copied);
    window.setTimeout(function () {
      label.textContent = button.dataset.copyIdle;
    }, 2000);
  }

  on("click", "[data-copy]", function (button) {
    var source = find(button.dataset.copy);
    if (!source) return;
    var text = "value" in source ? source.value : source.textContent.trim();
    var done = function () {
      copied(button);
    };
    if (navigator.clipboard && window.isSecureContext) {
      navigator.clipboard.writeText(text).then(done, function () {
        copyBySelection(source, done);
      });
    } else {
      copyBySelection(source, done);
    }
  });

  // The clipboard interface exists only on https and localhost.
  function copyBySelection(source, done) {
    if ("select" in source) source.select();
    else window.getSelection().selectAllChildren(source);
    if (document.execCommand("copy")) done();
  }

  // --- Dialogs

  function openDialog(dialog) {
    if (!dialog || typeof dialog.showModal !== "function") return;
    dialog.removeAttribute("open");
    dialog.showModal();
    var first = dialog.querySelector("[autofocus], [aria-invalid='true']");
    if (first) first.focus();
  }

  on("click", "[data-dialog-open]", function (opener, event) {
    var dialog = find(opener.dataset.dialogOpen);
    if (!dialog) return;
    event.preventDefault();
    openDialog(dialog);
    dialog.addEventListener(
      "close",
      function () {
        if (document.contains(opener)) opener.focus();
      },
      { once: true },
    );
  });

  on("click", "[data-dialog-close]", function (closer, event) {
    var dialog = closer.closest("dialog");
    if (!dialog) return;
    event.preventDefault();
    dialog.close();
  });

  // A press on the dark surroundings is a press on the dialog element itself.
  on("mousedown", "dialog", function (dialog, event) {
    if (event.target !== dialog) return;
    var box = dialog.getBoundingClientRect();
    var inside =
      event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
    if (!inside) dialog.close();
  });

  // A dialog that was opened by the address closes into the address without it.
  document.addEventListener(
    "close",
    function (event) {
      var here = new URL(window.location.href);
      if (event.target.id && here.searchParams.get("dialog") === event.target.id) {
        here.searchParams.delete("dialog");
        window.history.replaceState(window.history.state, "", here);
      }
    },
    true,
  );

  // --- Asking before a step that cannot be taken back

  function confirmedField(form) {
    var field = form.querySelector("input[type=hidden][name=confirmed]");
    if (field) return field;
    field = document.createElement("input");
    field.type = "hidden";
    field.name = "confirmed";
    form.append(field);
    return field;
  }

  function ask(asker, form, submitter) {
    var dialog = document.getElementById("confirm-dialog");
    dialog.querySelector("[data-confirm-sentence]").textContent = asker.dataset.confirm;
    var yes = dialog.querySelector("[data-confirm-yes]");
    yes.textContent = asker.dataset.confirmButton || (submitter && submitter.textContent.trim()) || yes.dataset.label;
    yes.classList.toggle("btn-danger", asker.dataset.confirmTone !== "calm");
    yes.classList.toggle("btn-primary", asker.dataset.confirmTone === "calm");
    dialog.returnValue = "";
    dialog.addEventListener(
      "close",
      function () {
        if (submitter && document.contains(submitter)) submitter.focus();
        if (dialog.returnValue !== "yes") return;
        var field = confirmedField(form);
        field.value = "1";
        form.dataset.confirmPassed = "1";
        form.requestSubmit(submitter || undefined);
        delete form.dataset.confirmPassed;
        if (document.contains(field)) field.remove();
      },
      { once: true },
    );
    dialog.showModal();
    dialog.querySelector("[data-confirm-no]").focus();
  }

  // In the capture phase, so that htmx does not send the form before the answer.
  document.addEventListener(
    "submit",
    function (event) {
      var form = event.target;
      var submitter = event.submitter;
      var asker = submitter && submitter.dataset.confirm ? submitter : form;
      if (!asker.dataset.confirm || form.dataset.confirmPassed) return;
      if (!document.getElementById("confirm-dialog")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      ask(asker, form, submitter);
    },
    true,
  );

  // --- Theme and side navigation

  function showTheme(button) {
    button.setAttribute("aria-pressed", String(button.dataset.themeSet === root.dataset.themeChoice));
  }

  on("click", "[data-theme-set]", function (button) {
    window.assessorTheme.choose(button.dataset.themeSet);
    all("[data-theme-set]").forEach(showTheme);
  });

  function setSide(open) {
    var side = document.getElementById("side");
    var button = document.querySelector("[data-side-toggle]");
    if (!side || !button) return;
    side.classList.toggle("is-open", open);
    button.setAttribute("aria-expanded", String(open));
  }

  on("click", "[data-side-toggle]", function (button) {
    setSide(button.getAttribute("aria-expanded") !== "true");
  });

  // Drop-down menus are <details>: leave them by Escape or by a press elsewhere.
  document.addEventListener("click", function (event) {
    all("details.menu[open]").forEach(function (menu) {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });

  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape") return;
    var menu = document.activeElement && document.activeElement.closest("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (!document.querySelector("dialog[open]") && document.querySelector("#side.is-open")) {
      setSide(false);
      document.querySelector("[data-side-toggle]").focus();
    }
  });

  // --- htmx

  document.addEventListener("htmx:configRequest", function (event) {
    var token = document.querySelector("meta[name='csrf-token']");
    if (event.detail.verb !== "get" && token) event.detail.headers["X-CSRF-Token"] = token.content;
    if (event.detail.elt.closest("[data-filter-form]")) leaveOutEmpty(event.detail.formData);
  });

  // Leaving a search field is no new search: its words went out as they were typed, and a second answer would take
  // the table away from under the focus.
  on(
    "change",
    "[data-filter-form] input[type=search]",
    function (_field, event) {
      event.stopPropagation();
    },
    true,
  );

  // An address holds only the filters that are set.
  function leaveOutEmpty(values) {
    Array.from(values.keys()).forEach(function (name) {
      var kept = values.getAll(name).filter(function (value) {
        return value !== "";
      });
      values.delete(name);
      kept.forEach(function (value) {
        values.append(name, value);
      });
    });
  }

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (event.detail.target) event.detail.target.setAttribute("aria-busy", "true");
  });

  document.addEventListener("htmx:afterRequest", function (event) {
    if (event.detail.target) event.detail.target.removeAttribute("aria-busy");
    if (!event.detail.successful) return;
    troubles().forEach(function (alert) {
      if (alert.dataset.trouble === "passing") alert.remove();
    });
  });

  // A poll that brings nothing new leaves the page as it is: what is selected, unfolded or scrolled stays so.
  // What is compared is the part, with what comes beside it: of the page around it the form tokens differ each time.
  var lastParts = {};

  function partOf(page, id) {
    var part = page.getElementById(id);
    var beside = part && part.getAttribute("hx-select-oob");
    return part && [part].concat(beside ? all(beside, page) : []).map((each) => each.outerHTML).join("\n");
  }

  all("[hx-trigger*=every]").forEach(function (part) {
    lastParts[part.id] = partOf(document, part.id);
  });

  document.addEventListener("htmx:beforeSwap", function (event) {
    var id = event.detail.target.id;
    var came = partOf(new DOMParser().parseFromString(event.detail.serverResponse, "text/html"), id);
    if (isPolling(event.detail.requestConfig.elt) && came && came === lastParts[id]) event.detail.shouldSwap = false;
    lastParts[id] = came;
  });

  function sentenceOf(element) {
    if (!element) return "";
    var source = element.matches("[data-announce]") ? element : element.querySelector("[data-announce]");
    return source ? source.dataset.announce : "";
  }

  function isPolling(element) {
    return ((element && element.getAttribute("hx-trigger")) || "").includes("every");
  }

  document.addEventListener("htmx:afterSettle", function (event) {
    var swapped = event.detail.target && document.getElementById(event.detail.target.id);
    var asker = event.detail.requestConfig.elt;
    var sentence = sentenceOf(swapped || event.detail.elt);
    if (!isPolling(asker) || sentence !== sentenceOf(asker)) announce(sentence);
    if (asker.matches("[data-filter-form]")) offerClearing(asker, event.detail.pathInfo.finalRequestPath);
    wake();
  });

  // The bar of filters stays while its table is swapped.
  function offerClearing(bar, address) {
    var link = bar.querySelector("[data-clear-filters]");
    if (link) link.hidden = address === link.getAttribute("href");
  }

  document.addEventListener("htmx:responseError", function (event) {
    var status = event.detail.xhr.status;
    var texts = document.body.dataset;
    if (status === 403) tellTrouble(event, texts.textForbidden);
    else if (status === 429) tellTrouble(event, texts.textBusy);
    else if (status >= 500) tellTrouble(event, texts.textServer);
    else tellTrouble(event, texts.textRefused);
  });

  ["htmx:sendError", "htmx:timeout"].forEach(function (type) {
    document.addEventListener(type, function (event) {
      tellTrouble(event, document.body.dataset.textOffline, true);
    });
  });

  // What befell a poll is told once, and is over with the next one that is answered.
  function tellTrouble(event, sentence, isPassing) {
    var isPoll = isPolling(event.detail.requestConfig.elt);
    if (!isPoll || !isTold(sentence)) showTrouble(sentence, isPassing || isPoll);
  }

  // --- Waking what a page or a swapped fragment brought

  var wakers = [];

  // `act` is called with every element of this selector: now, after each swap, and once the browser has restored
  // what it kept of the page, such as ticked boxes.
  function onWake(selector, act) {
    wakers.push(function () {
      all(selector).forEach(act);
    });
    all(selector).forEach(act);
  }

  function wake() {
    wakers.forEach(function (waker) {
      waker();
    });
  }

  onWake("dialog[data-dialog-auto]", function (dialog) {
    dialog.removeAttribute("data-dialog-auto");
    openDialog(dialog);
  });
  onWake("[data-theme-set]", showTheme);
  window.addEventListener("pageshow", wake);

  // For the scripts that only some pages load.
  window.assessor = { all: all, announce: announce, find: find, on: on, onWake: onWake };
})();
