// SPDX-License-Identifier: MIT
// What the drawings do in a browser: a click on a box spreads what lies between its edges over the whole width, a
// search marks the boxes whose text has the word in it. The names are only ever read as text.
(function () {
	"use strict";
	var root = document.documentElement;
	var number = function (node, name) { return Number(node.getAttribute(name)); };
	var left = number(root, "data-left"), right = number(root, "data-right");
	var first = number(root, "data-from"), all = number(root, "data-to") - first;
	var unit = root.getAttribute("data-unit");
	var start = 0, length = all;
	var boxes = Array.prototype.map.call(document.querySelectorAll(".f"), function (group) {
		var title = group.querySelector("title").textContent;
		return {group: group, rect: group.querySelector("rect"), text: group.querySelector("text"),
			x: number(group, "data-x"), w: number(group, "data-w"), y: number(group.querySelector("rect"), "y"),
			title: title, name: title.split("\n")[0]};
	});
	var arrows = Array.prototype.map.call(document.querySelectorAll(".a"), function (path) {
		return {path: path, from: number(path, "data-from"), to: number(path, "data-to"),
			y1: number(path, "data-y1"), y2: number(path, "data-y2")};
	});
	var ticks = document.querySelectorAll("text.t"), lines = document.querySelectorAll("line.l");

	function place(at) {
		return left + (at - start) / length * (right - left);
	}

	function fit(text, width) {
		var room = Math.floor((width - 4) / 6.7);
		if (room < 3)
			return "";
		return text.length <= room ? text : text.slice(0, room - 2) + "…";
	}

	function amount(value) {
		var step = unit === "bytes" ? 1024 : 1000, i = 0;
		var units = unit === "bytes" ? ["B", "KiB", "MiB", "GiB", "TiB"] : ["ns", "µs", "ms", "s"];
		if (unit === "count")
			return String(Math.round(value));
		for (; value >= step && i + 1 < units.length; i++)
			value /= step;
		return value.toFixed(i === 0 ? 0 : 2) + " " + units[i];
	}

	/* As many as there are elements for, at round places; a flame graph has none. */
	function drawTicks() {
		var step = 1, i;
		for (i = 0; ticks.length && length / step >= ticks.length; i++)
			step = i % 3 === 1 ? step / 2 * 5 : step * 2;
		for (i = 0; i < ticks.length; i++) {
			var at = (Math.ceil((first + start) / step) + i) * step, x = place(at - first);
			var shown = x <= right + 0.1, text = amount(at);
			lines[i].style.display = shown ? "" : "none";
			ticks[i].style.display = shown && x + 3 + 6.7 * text.length <= right ? "" : "none";
			lines[i].setAttribute("x1", x);
			lines[i].setAttribute("x2", x);
			ticks[i].setAttribute("x", x + 3);
			ticks[i].textContent = text;
		}
	}

	function draw() {
		boxes.forEach(function (box) {
			var x = Math.max(left, place(box.x)), end = Math.min(right, place(box.x + box.w));
			var shown = end > left && x < right && (box.w > 0 || length === all || end >= x);
			box.group.style.display = shown ? "" : "none";
			if (!shown)
				return;
			box.rect.setAttribute("x", x);
			box.rect.setAttribute("width", end - x > 2 ? end - x - 0.4 : Math.max(0.4, end - x));
			box.text.setAttribute("x", x + 3);
			box.text.textContent = fit(box.name, end - x);
		});
		arrows.forEach(function (arrow) {
			var x1 = place(arrow.from), x2 = place(arrow.to);
			arrow.path.style.display = x1 < left || x2 > right ? "none" : "";
			arrow.path.setAttribute("d", "M" + x1 + " " + arrow.y1 + "C" + (x1 + 25) + " " + arrow.y1 + " " +
				(x2 - 25) + " " + arrow.y2 + " " + x2 + " " + arrow.y2);
		});
		drawTicks();
		back.style.display = length < all ? "" : "none";
	}

	function zoom(from, width) {
		start = from;
		length = width > 0 ? width : 1;
		draw();
	}

	function search(word) {
		var wanted = word.toLowerCase(), sum = 0, end = 0, hits = 0;
		boxes.forEach(function (box) {
			var hit = wanted !== "" && box.name.toLowerCase().indexOf(wanted) >= 0;
			box.group.classList.toggle("hit", hit);
			box.group.classList.toggle("dim", wanted !== "" && !hit);
			hits += hit ? 1 : 0;
		});
		/* What lies inside another hit counts once. */
		boxes.filter(function (box) { return box.group.classList.contains("hit"); })
			.sort(function (a, b) { return a.x - b.x || b.w - a.w; })
			.forEach(function (box) {
				if (box.x + box.w > end) {
					sum += box.x + box.w - Math.max(end, box.x);
					end = box.x + box.w;
				}
			});
		found.textContent = wanted === "" ? "" : hits + " found, " + (100 * sum / all).toFixed(1) + " %";
	}

	function add(parent, name, attributes) {
		var node = document.createElementNS("http://www.w3.org/1999/xhtml", name);
		Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
		parent.appendChild(node);
		return node;
	}

	var panel = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
	[["x", right - 420], ["y", 4], ["width", 420], ["height", 28]].forEach(function (pair) {
		panel.setAttribute(pair[0], pair[1]);
	});
	root.appendChild(panel);
	var bar = add(panel, "div", {style: "text-align:right;font:11px sans-serif"});
	var found = add(bar, "span", {id: "found"});
	var back = add(bar, "button", {id: "back", style: "margin:0 6px"});
	var input = add(bar, "input", {id: "search", type: "search", placeholder: "search", size: 24});
	back.textContent = "whole";
	back.addEventListener("click", function () { zoom(0, all); });
	input.addEventListener("input", function () { search(input.value); });
	boxes.forEach(function (box) {
		box.group.addEventListener("click", function () {
			if (box.x === start && box.w === length)
				zoom(0, all);
			else
				zoom(box.x, box.w);
		});
	});
	document.addEventListener("keydown", function (event) {
		if (event.key === "Escape") {
			input.value = "";
			search("");
			zoom(0, all);
		} else if (event.key === "/" && event.target !== input) {
			input.focus();
			event.preventDefault();
		}
	});
	draw();
})();
