// SPDX-License-Identifier: MIT
// The page of an archive: a timeline of threads, a flame graph, a table of calls, and those of the report. All data stand in the page; nothing is
// loaded. Names are put in as text, never as markup.
'use strict';
(function () {
	const data = JSON.parse(document.getElementById('data').textContent);
	const count = data.dur.length, ts = new Float64Array(count), ends = new Float64Array(count);
	const ROW = 15, HEAD = 18, AXIS = 16, self = new Float64Array(count);
	const lanes = data.threads.map((t) => ({thread: t, rows: [], top: 0, events: []}));
	const byId = (id) => document.getElementById(id);
	const canvas = byId('timeline'), flame = byId('flame'), details = byId('details');
	let from = 0, to = Math.max(data.span, 1), selected = -1, pattern = '', scroll = 0, height = 0;

	function time(ns) {
		if (ns === 0)
			return '0';
		const units = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
		const unit = units.find((u) => Math.abs(ns) >= u[1]) || units[3];
		return (ns / unit[1]).toPrecision(4) + ' ' + unit[0];
	}

	function color(name) {
		let hash = 0;
		for (let i = 0; i < name.length; i++)
			hash = (hash * 31 + name.charCodeAt(i)) | 0;
		return 'hsl(' + ((hash >>> 0) % 360) + ',55%,68%)';
	}
	const colors = data.names.map(color);

	// Times are differences to the event before of the same thread; children come behind their parents.
	function unpack() {
		const last = new Float64Array(lanes.length), stacks = lanes.map(() => []);
		for (let i = 0; i < count; i++) {
			const l = data.thread[i], lane = lanes[l], stack = stacks[l];
			ts[i] = last[l] += data.ts[i];
			ends[i] = ts[i] + data.dur[i];
			self[i] = data.dur[i];
			while (stack.length && ends[stack[stack.length - 1]] <= ts[i])
				stack.pop();
			if (stack.length && data.dur[i] > 0)
				self[stack[stack.length - 1]] -= data.dur[i];
			if (data.dur[i] > 0)
				stack.push(i);
			(lane.rows[data.depth[i]] = lane.rows[data.depth[i]] || []).push(i);
			lane.events.push(i);
		}
		height = AXIS;
		for (const lane of lanes) {
			lane.top = height;
			height += HEAD + ROW * lane.rows.length + 6;
		}
	}

	const matches = (i) => !pattern || data.names[data.name[i]].toLowerCase().includes(pattern);

	// --- The timeline ---------------------------------------------------------------------------

	function firstEndingAfter(row, when) {
		let low = 0, high = row.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (ends[row[middle]] < when)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	function drawRow(ctx, row, y, width) {
		const scale = width / (to - from);
		let drawn = -1;
		for (let at = firstEndingAfter(row, from); at < row.length && ts[row[at]] <= to; at++) {
			const i = row[at], x = (ts[i] - from) * scale, w = Math.max(data.dur[i] * scale, 1);
			if (x + w < drawn + 0.5)
				continue;
			drawn = x + w;
			ctx.globalAlpha = matches(i) ? 1 : 0.2;
			ctx.fillStyle = i === selected ? '#000' : colors[data.name[i]];
			ctx.fillRect(x, y, w, ROW - 1);
			if (w > 30) {
				ctx.fillStyle = i === selected ? '#fff' : '#000';
				ctx.save();
				ctx.beginPath();
				ctx.rect(x, y, w - 2, ROW);
				ctx.clip();
				ctx.fillText(data.names[data.name[i]], Math.max(x, 0) + 3, y + 11);
				ctx.restore();
			}
		}
		ctx.globalAlpha = 1;
	}

	const yOf = (i) => lanes[data.thread[i]].top + HEAD + ROW * (data.depth[i] + 0.5) - scroll;

	function drawArrows(ctx, width) {
		const scale = width / (to - from);
		ctx.strokeStyle = ctx.fillStyle = '#c00';
		for (const [a, b] of data.arrows) {
			if ((ts[a] > to && ts[b] > to) || (ends[a] < from && ends[b] < from))
				continue;
			const x1 = (Math.min(ends[a], Math.max(ts[a], ts[b])) - from) * scale;
			const x2 = (Math.max(ts[b], Math.min(ends[b], ts[a])) - from) * scale;
			ctx.globalAlpha = selected < 0 || selected === a || selected === b ? 0.8 : 0.15;
			ctx.beginPath();
			ctx.moveTo(x1, yOf(a));
			ctx.lineTo(x2, yOf(b));
			ctx.stroke();
			ctx.fillRect(x2 - 2, yOf(b) - 2, 4, 4);
		}
		ctx.globalAlpha = 1;
	}

	function prepare(element, pixels) {
		const ratio = window.devicePixelRatio || 1, width = element.clientWidth;
		element.style.height = pixels + 'px';
		element.width = width * ratio;
		element.height = pixels * ratio;
		const ctx = element.getContext('2d');
		ctx.scale(ratio, ratio);
		ctx.font = '11px sans-serif';
		ctx.clearRect(0, 0, width, pixels);
		return ctx;
	}

	// Round times, a hundred pixels apart or more.
	function drawAxis(ctx, width, pixels) {
		const least = (to - from) * 110 / width, ten = Math.pow(10, Math.floor(Math.log10(least)));
		const step = [1, 2, 5, 10].map((n) => n * ten).find((s) => s >= least), digits = Math.ceil(Math.log10(to / step)) + 1;
		for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
			const x = (at - from) * width / (to - from), unit = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]].find((u) => to >= u[1]);
			ctx.fillStyle = '#eee';
			ctx.fillRect(x, 0, 1, pixels);
			ctx.fillStyle = '#555';
			ctx.fillText(+(at / unit[1]).toPrecision(Math.min(Math.max(digits, 3), 15)) + ' ' + unit[0], x + 3, 11);
		}
	}

	function draw() {
		const pixels = Math.min(height + 20, 600), ctx = prepare(canvas, pixels);
		const width = canvas.clientWidth;
		drawAxis(ctx, width, pixels);
		for (const lane of lanes) {
			const top = lane.top - scroll;
			if (top > pixels || top + HEAD + ROW * lane.rows.length < 0)
				continue;
			ctx.fillStyle = '#555';
			ctx.fillText(lane.thread.title, 3, top + 13);
			for (let d = 0; d < lane.rows.length; d++)
				if (lane.rows[d])
					drawRow(ctx, lane.rows[d], top + HEAD + ROW * d, width);
		}
		drawArrows(ctx, width);
		byId('range').textContent = time(from) + ' … ' + time(to);
	}

	function zoom(factor, share) {
		const middle = from + (to - from) * share, length = Math.min((to - from) * factor, data.span || 1);
		from = Math.max(0, middle - length * share);
		to = from + Math.max(length, 10);
		draw();
	}

	function move(share) {
		const length = to - from;
		from = Math.max(0, Math.min(from + share * length, Math.max(data.span - length, 0)));
		to = from + length;
		draw();
	}

	function eventAt(x, y) {
		const when = from + (to - from) * x / canvas.clientWidth, slack = 2 * (to - from) / canvas.clientWidth;
		for (const lane of lanes) {
			const d = Math.floor((y + scroll - lane.top - HEAD) / ROW), row = lane.rows[d];
			if (d < 0 || !row)
				continue;
			const i = row[firstEndingAfter(row, when - slack)];
			return i !== undefined && ts[i] <= when + slack ? i : -1;
		}
		return -1;
	}

	function show(i) {
		selected = i;
		details.textContent = '';
		if (i >= 0) {
			const lines = [data.names[data.name[i]], 'thread: ' + lanes[data.thread[i]].thread.title,
				       'from: ' + time(ts[i]), 'took: ' + time(data.dur[i]),
				       'of its own: ' + time(self[i])];
			details.textContent = lines.concat(data.texts[data.args[i]].split('\n')).join('\n');
		}
		draw();
	}

	// --- The flame graph ------------------------------------------------------------------------

	function tree() {
		const root = {name: -1, total: 0, children: new Map()};
		for (const lane of lanes) {
			const stack = [{node: root, end: Infinity}];
			for (const i of lane.events) {
				if (data.dur[i] <= 0)
					continue;
				while (stack[stack.length - 1].end <= ts[i])
					stack.pop();
				const parent = stack[stack.length - 1].node;
				let node = parent.children.get(data.name[i]);
				if (!node)
					parent.children.set(data.name[i], node = {name: data.name[i], total: 0, calls: 0,
										  children: new Map()});
				node.total += data.dur[i];
				node.calls++;
				if (parent === root)
					root.total += data.dur[i];
				stack.push({node: node, end: ends[i]});
			}
		}
		return root;
	}
	let root, shown, boxes = [];

	function drawFlame() {
		boxes = [];
		const width = flame.clientWidth, place = (node, x, w, depth) => {
			if (w < 0.5 || depth > 60)
				return;
			boxes.push({node: node, x: x, w: w, depth: depth});
			let at = x;
			for (const child of [...node.children.values()].sort((a, b) => b.total - a.total)) {
				place(child, at, w * child.total / node.total, depth + 1);
				at += w * child.total / node.total;
			}
		};
		if (shown.total > 0)
			place(shown, 0, width, 0);
		const deepest = boxes.reduce((most, b) => Math.max(most, b.depth), 0);
		const ctx = prepare(flame, (deepest + 1) * (ROW + 1));
		for (const b of boxes) {
			const name = b.node.name < 0 ? 'all threads' : data.names[b.node.name];
			ctx.globalAlpha = !pattern || name.toLowerCase().includes(pattern) ? 1 : 0.2;
			ctx.fillStyle = b.node.name < 0 ? '#ccc' : colors[b.node.name];
			ctx.fillRect(b.x, b.depth * (ROW + 1), Math.max(b.w - 0.5, 0.5), ROW);
			ctx.fillStyle = '#000';
			if (b.w > 30) {
				ctx.save();
				ctx.beginPath();
				ctx.rect(b.x, b.depth * (ROW + 1), b.w - 2, ROW);
				ctx.clip();
				ctx.fillText(name, b.x + 3, b.depth * (ROW + 1) + 11);
				ctx.restore();
			}
		}
	}

	function boxAt(event) {
		const d = Math.floor(event.offsetY / (ROW + 1));
		return boxes.find((b) => b.depth === d && event.offsetX >= b.x && event.offsetX < b.x + b.w);
	}

	// --- The table ------------------------------------------------------------------------------

	function fillTable() {
		const rows = data.names.map((name) => ({name: name, calls: 0, self: 0, total: 0, max: 0}));
		for (let i = 0; i < count; i++) {
			const row = rows[data.name[i]];
			row.calls++;
			row.self += self[i];
			row.total += data.dur[i];
			row.max = Math.max(row.max, data.dur[i]);
		}
		const body = byId('calls');
		body.textContent = '';
		for (const row of rows.filter((r) => r.calls && (!pattern || r.name.toLowerCase().includes(pattern)))
			.sort((a, b) => b.self - a.self).slice(0, 200)) {
			const line = document.createElement('tr');
			for (const text of [time(row.self), time(row.total), row.calls.toLocaleString('en'), time(row.max),
					    row.name]) {
				const cell = document.createElement('td');
				cell.textContent = text;
				line.appendChild(cell);
			}
			body.appendChild(line);
		}
	}

	function add(parent, tag, text, kind) {
		const element = document.createElement(tag);
		element.textContent = text;
		if (kind)
			element.className = kind;
		return parent.appendChild(element);
	}

	function fillReport() {
		const tables = JSON.parse(byId('report').textContent), place = byId('tables');
		if (tables.length)
			add(place, 'h2', 'Report');
		for (const table of tables) {
			add(place, 'h3', table.title);
			const element = place.appendChild(document.createElement('table'));
			const kind = (i) => table.texts[i] ? 'text' : '';
			if (table.rows.length) {
				const heads = add(element, 'tr', '');
				table.heads.forEach((head, i) => add(heads, 'th', head, kind(i)));
			}
			table.rows.forEach((row, number) => {
				const line = add(element, 'tr', '');
				row.forEach((cell, i) => {
					const level = i + 1 === row.length && table.levels[number] || 0;
					add(line, 'td', cell, kind(i)).style.paddingLeft = 10 + 16 * level + 'px';
				});
			});
			if (table.left)
				add(place, 'p', '(' + table.left.toLocaleString('en') + ' more)', 'note');
			for (const note of table.notes)
				add(place, 'p', note, 'note');
		}
	}

	// --- The user -------------------------------------------------------------------------------

	canvas.addEventListener('wheel', (event) => {
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			move((event.deltaX || event.deltaY) / 1000);
		else if (event.ctrlKey || height <= 600)
			zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / canvas.clientWidth);
		else
			scroll = Math.max(0, Math.min(scroll + event.deltaY, height - 580)), draw();
	}, {passive: false});
	let drag = null;
	canvas.addEventListener('mousedown', (event) => drag = {x: event.offsetX, y: event.offsetY, moved: false});
	canvas.addEventListener('mousemove', (event) => {
		if (drag && Math.abs(event.offsetX - drag.x) > 3) {
			move((drag.x - event.offsetX) / canvas.clientWidth);
			drag = {x: event.offsetX, y: event.offsetY, moved: true};
		}
	});
	canvas.addEventListener('mouseup', (event) => {
		if (drag && !drag.moved)
			show(eventAt(event.offsetX, event.offsetY));
		drag = null;
	});
	canvas.addEventListener('dblclick', (event) => {
		const i = eventAt(event.offsetX, event.offsetY);
		if (i >= 0 && data.dur[i] > 0)
			from = ts[i], to = ends[i], draw();
	});
	flame.addEventListener('click', (event) => {
		const box = boxAt(event);
		shown = box && box.node !== shown ? box.node : root;
		drawFlame();
	});
	flame.addEventListener('mousemove', (event) => {
		const box = boxAt(event);
		flame.title = !box || box.node.name < 0 ? '' : data.names[box.node.name] + '\n' + time(box.node.total) + ' in ' +
			box.node.calls.toLocaleString('en') + ' calls';
	});
	document.addEventListener('keydown', (event) => {
		if (event.target.tagName === 'INPUT')
			return;
		const keys = {w: () => zoom(0.7, 0.5), s: () => zoom(1.4, 0.5), a: () => move(-0.2), d: () => move(0.2)};
		if (keys[event.key])
			keys[event.key]();
		else if (event.key === '0')
			from = 0, to = Math.max(data.span, 1), draw();
	});
	byId('search').addEventListener('input', (event) => {
		pattern = event.target.value.toLowerCase();
		let found = 0;
		for (let i = 0; pattern && i < count; i++)
			found += matches(i);
		byId('found').textContent = pattern ? found.toLocaleString('en') + ' found' : '';
		draw();
		drawFlame();
		fillTable();
	});
	// Goes on to the next event that is searched for.
	byId('search').addEventListener('keydown', (event) => {
		if (event.key !== 'Enter' || !pattern)
			return;
		for (let n = 1; n <= count; n++) {
			const i = (selected + n + count) % count, length = to - from;
			if (!matches(i))
				continue;
			if (ts[i] < from || ends[i] > to) {
				from = Math.max(0, ts[i] + data.dur[i] / 2 - Math.max(length, data.dur[i]) / 2);
				to = from + Math.max(length, data.dur[i]);
			}
			scroll = Math.max(0, Math.min(lanes[data.thread[i]].top - 40, height - 580));
			show(i);
			return;
		}
	});
	window.addEventListener('resize', () => { draw(); drawFlame(); });

	unpack();
	shown = root = tree();
	draw();
	drawFlame();
	fillTable();
	fillReport();
	// For those who drive the page by a program.
	window.fxtrace = {events: count, eventAt: eventAt, show: show, zoom: zoom, selected: () => selected,
			  range: () => [from, to], name: (i) => data.names[data.name[i]]};
})();
