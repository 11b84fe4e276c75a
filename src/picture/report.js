// Links tau and the slider over candidates. Without a less-than sign or an ampersand, so that the page stays well-formed XML. All numbers are
// read from the rows; what is shown is copied from them as text.
(function () {
  "use strict";
  function byId(id) { return document.getElementById(id); }
  function list(nodes) { return Array.prototype.slice.call(nodes); }

  // Candidates descend, and the tau that permits them ascends.
  var rows = list(document.querySelectorAll("tr.candidate")).map(function (row) {
    return { row: row, epsilon: row.getAttribute("data-epsilon"),
             found: Number(row.getAttribute("data-found")), domain: Number(row.getAttribute("data-domain")) };
  });
  var field = byId("tau"), slider = byId("slider"), tauShown = byId("tau-shown");

  function pick(tau, price) {
    return rows.find(function (each) { return each[price] >= tau; });
  }

  // Those that some tau picks, from the smallest on: where the slider can stand.
  var stops = rows.filter(function (each, i) { return i === 0 ? true : each.found > rows[i - 1].found; }).reverse();

  function below(stop) {
    var i = rows.indexOf(stop);
    return i === 0 ? -1 : rows[i - 1].found;
  }

  // A short decimal that picks it.
  function tauOf(stop) {
    var least = below(stop), digits, power, text;
    for (digits = 2; 15 >= digits; digits += 1) {
      power = Math.pow(10, digits);
      text = (Math.floor(stop.found * power) / power).toFixed(digits);
      if (Number(text) > least) { if (stop.found >= Number(text)) { return String(Number(text)); } }
    }
    return String(stop.found);
  }

  function fill(card, chosen) {
    card.querySelector(".epsilon").textContent = chosen ? chosen.epsilon : "no candidate";
    ["ratio", "error", "answer", "left"].forEach(function (name) {
      card.querySelector("dd." + name).textContent =
        chosen ? chosen.row.querySelector("td." + name).textContent : "-";
    });
  }

  function show(tau, text) {
    var found = pick(tau, "found"), domain = pick(tau, "domain");
    rows.forEach(function (each) {
      each.row.classList.toggle("picked", each === found);
      each.row.querySelector(".mark.found").textContent = each === found ? "found" : "";
      each.row.querySelector(".mark.domain").textContent = each === domain ? "domain" : "";
    });
    fill(byId("found"), found);
    fill(byId("domain"), domain);
    tauShown.textContent = text;
    byId("total-decides").hidden = found !== rows[0];
    slider.value = String(found ? stops.indexOf(found) : 0);
    slider.setAttribute("aria-valuetext", found ? "epsilon " + found.epsilon + " at tau " + text : "no candidate at tau " + text);
  }

  function isTau(tau) { return tau >= 0 ? 1 >= tau : false; } // false for what is no number

  function read() {
    var tau = field.value === "" ? NaN : Number(field.value);
    if (isTau(tau)) { show(tau, field.value); }
  }

  // #tau=0.9: a number, or nothing.
  function readHash() {
    var match = /^#tau=((?:0|1)?(?:\.[0-9]{1,20})?)$/.exec(window.location.hash);
    var tau = match ? (match[1] === "" ? NaN : Number(match[1])) : NaN;
    if (isTau(tau)) { field.value = match[1].charAt(0) === "." ? "0" + match[1] : match[1]; read(); }
  }

  slider.max = String(stops.length - 1);
  slider.addEventListener("input", function () {
    field.value = tauOf(stops[Number(slider.value)]);
    read();
  });
  field.addEventListener("input", read);
  window.addEventListener("hashchange", readHash);
  byId("controls").hidden = false;
  read();
  readHash();
}());
