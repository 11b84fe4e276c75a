// Draws the plots, and links tau and the slider over candidates. It does without a less-than sign or an ampersand, so that the page
// stays well-formed XML. All numbers are read from the tables of the page; texts are copied from there as texts.
(function () {
  "use strict";
  function list(nodes) { return Array.prototype.slice.call(nodes); }

  // ---- plots ----

  function add(parent, name, attributes, text) {
    var made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text) { made.textContent = text; }
    return parent.appendChild(made);
  }
  function draw(parent, width, height, label) {
    return add(parent, "svg", { role: "img", viewBox: "0 0 " + width + " " + height, "aria-label": label });
  }
  function addText(svg, x, y, text) { add(svg, "text", { x: x, y: y, "text-anchor": "middle" }, text); }

  // Draws the ranges of all candidates of a question on one logarithmic scale. It begins at a fifth of the smallest largest risk: a candidate with
  // next to no noise would squeeze all others. An arrow ends a range that is cut there.
  function drawRanges(root) {
    var width = 400, margin = 14, height = 20, low = 1, high = 10;
    var cells = list(root.querySelectorAll("tr.candidate td.plot"));
    var ranges = cells.map(function (cell) { return cell.textContent.split(" to ").map(Number); });
    var exposed = ranges.filter(function (range) { return range[1] > 0 ? isFinite(range[1]) : false; });
    function extreme(of, end) { return of.apply(null, exposed.map(function (range) { return range[end]; })); }
    if (exposed.length > 0) {
      low = Math.max(extreme(Math.min, 0), extreme(Math.min, 1) / 5);
      high = Math.max(extreme(Math.max, 1), low * 1.01);
    }
    function place(value) {
      var part = value > low ? Math.log(value / low) / Math.log(high / low) : 0;
      return margin + Math.min(part, 1) * (width - 2 * margin);
    }
    var first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    var step = 1 + Math.floor(Math.max(last - first, 0) / 10), power;
    function addPowers(svg, tall, named) {
      for (power = first; last >= power; power += step) {
        var value = Number("1e" + power), x = place(value);
        add(svg, "line", { x1: x, x2: x, y1: 0, y2: tall });
        if (named) { addText(svg, x, 18, String(value)); }
      }
    }
    var label = [low, high].map(function (end) { return Number(end.toPrecision(4)); }).join(" to ");
    addPowers(draw(root.querySelector("th.plot"), width, 22, "logarithmic scale of the risk from " + label), 5, true);
    cells.forEach(function (cell, i) {
      var from = place(ranges[i][0]), bar = Math.max(place(ranges[i][1]) - from, 3);
      var svg = draw(cell, width, height, "risk from " + cell.textContent);
      cell.insertBefore(svg, cell.firstChild);
      addPowers(svg, height, false);
      add(svg, "rect", { x: Math.min(from, width - margin - bar), y: 5, width: bar, height: 10, rx: 1.5 });
      if (low * (1 - 1e-9) > ranges[i][0]) { add(svg, "path", { d: "M" + from + " 2 l-9 8 l9 8 Z" }); }
    });
  }

  // Puts a picture of the histogram in the place of its table.
  function drawHistogram(root) {
    var table = root.querySelector(".spread table"), width = 640, top = 22, base = 186, margin = 34;
    var bins = list(table.tBodies[0].rows).map(function (row) {
      return list(row.cells).map(function (cell) { return cell.textContent; });
    });
    var most = Math.max.apply(null, bins.map(function (bin) { return Number(bin[2]); }).concat(1));
    var step = (width - 2 * margin) / bins.length, every = Math.floor((bins.length + 4) / 5);
    var svg = draw(table.parentNode, width, 220, "how many people have which risk: " + bins.filter(function (bin) {
      return bin[2] !== "0";
    }).map(function (bin) { return bin[2] + " from " + bin[0] + " to " + bin[1]; }).join("; ") + ".");
    bins.forEach(function (bin, i) {
      // Somebody is seen, however many others there are.
      var x = margin + step * i, tall = Math.max((base - top) * Number(bin[2]) / most, 2);
      if (bin[2] !== "0") {
        add(svg, "rect", { x: x + 1, y: base - tall, width: step - 2, height: tall });
        addText(svg, x + step / 2, base - tall - 6, bin[2]);
      }
      if (i % every === 0) { addText(svg, x, base + 18, bin[0]); }
    });
    if (bins.length % every === 0) { addText(svg, width - margin, base + 18, bins[bins.length - 1][1]); }
    add(svg, "line", { x1: margin, x2: width - margin, y1: base, y2: base });
    table.hidden = true;
  }

  // ---- the choice of a question ----

  function link(root) {
    // Candidates descend, and the tau that permits them ascends.
    var rows = list(root.querySelectorAll("tr.candidate")).map(function (row) {
      return { row: row, epsilon: row.getAttribute("data-epsilon"),
               found: Number(row.getAttribute("data-found")), domain: Number(row.getAttribute("data-domain")) };
    });
    var field = root.querySelector("input[type=number]"), slider = root.querySelector("input[type=range]");
    var tauShown = root.querySelector(".at output");

    function pick(tau, price) {
      return rows.find(function (each) { return each[price] >= tau; });
    }

    // The slider stands at candidates that some tau picks, from the smallest on.
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
      fill(root.querySelector(".card.found"), found);
      fill(root.querySelector(".card.domain"), domain);
      tauShown.textContent = text;
      root.querySelector(".total-decides").hidden = found !== rows[0];
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
    root.querySelector(".controls").hidden = false;
    read();
    readHash();
  }

  list(document.querySelectorAll(".question")).forEach(function (root) {
    drawRanges(root);
    drawHistogram(root);
    link(root);
  });
}());
