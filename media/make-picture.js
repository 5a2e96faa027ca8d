/**
`npm run picture`: runs the built monitor on a terminal and draws what it shows as media/top.svg; then a reservation made by keys, as
media/reserve.svg. Five minutes pass for the monitor in a quarter of one, so that its graphs have something to show.
Frames and bars are drawn as shapes and every word has its place and its width, so it looks the same in any font.
*/
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openTerminal } from "../test/_helpers/terminal.ts";

const program = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

const size = { columns: 120, rows: 32 };
const cell = { width: 8.4, height: 18, baseline: 13.2 };
const margin = { x: 20, top: 52, bottom: 20 };
const background = "#10141a";
const foreground = "#d5dae1";
/** The colours of the terminal's palette that the monitor uses, by number. */
const palette = { 1: "#ff7b72", 2: "#6bd968", 3: "#f2c14b", 4: "#7cb7ff", 6: "#5cd6dd" };

/** So many times as fast does time go by for the monitor, for so many milliseconds. */
const haste = { factor: 20, lasts: 16_000 };

/** Runs before the program: a hurried clock, and a machine and an account that are nobody's. */
const neutral = `data:text/javascript,
import fs from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import {syncBuiltinESMExports} from 'node:module';
const uid = 5000;
const read = fs.readFileSync;
process.getuid = () => uid;
process.geteuid = () => uid;
os.hostname = () => 'gpu-box';
fs.readFileSync = (file, ...options) =>
	file === '/etc/passwd' ? 'alice:x:' + uid + ':' + uid + '::/home/alice:/bin/sh\\n' : read(file, ...options);
syncBuiltinESMExports();
const factor = ${haste.factor};
const real = performance.now.bind(performance);
const begin = real();
const passed = () => real() - begin;
const gone = () => passed() + (factor - 1) * Math.min(passed(), ${haste.lasts});
const start = Date.now();
performance.now = () => begin + gone();
Date.now = () => start + gone();
for (const name of ['setTimeout', 'setInterval']) {
	const plain = globalThis[name];
	globalThis[name] = (callback, delay, ...rest) =>
		plain(callback, passed() < ${haste.lasts} ? delay / factor : delay, ...rest);
}`;

/** The demonstration's GPUs, and then a reservation by keys. Only mine and all again: that leaves the own row selected. */
async function play() {
	const home = mkdtempSync(path.join(tmpdir(), "canhazgpu-picture-"));
	const terminal = openTerminal(
		process.execPath,
		["--import", neutral.replaceAll(/[\n\t]+/gv, " "), program, "top", "--demo"],
		{ ...size, cwd: home, environment: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", TZ: "UTC" } },
	);
	try {
		await terminal.waitFor(/> 0 +reserved/v);
		// Until the haste is over, and a little more: the last quick scans are followed by those at the usual pace.
		await sleep(haste.lasts + 3000);
		const top = cellsOf(terminal.emulator);
		terminal.write("r");
		await terminal.waitFor("Reserve GPUs");
		terminal.write("1\t4h\teval 70B");
		await terminal.waitFor(`--gpus 1 --duration 4h --note 'eval 70B'`);
		terminal.write("\r");
		await terminal.waitFor(/Mine 1[\s\S]* OK reserved GPU/v);
		terminal.write("m");
		await terminal.waitFor("filter mine");
		terminal.write("m");
		await terminal.waitFor("filter -");
		return { top, reserve: cellsOf(terminal.emulator) };
	} finally {
		await terminal.close();
		rmSync(home, { recursive: true, force: true });
	}
}

/** Rows of {text, fill, back, bold}, one for each column. */
function cellsOf({ buffer: { active } }) {
	return Array.from({ length: size.rows }, (_, row) => {
		const line = active.getLine(row);
		return Array.from({ length: size.columns }, (_, column) => {
			const it = line.getCell(column);
			const own = it.isFgDefault() ? foreground : (palette[it.getFgColor() % 8] ?? foreground);
			const ink = it.isDim() ? mix(own, background, 0.45) : own;
			return {
				text: it.getChars() || " ",
				fill: it.isInverse() ? background : ink,
				back: it.isInverse() ? ink : undefined,
				bold: it.isBold() !== 0,
			};
		});
	});
}

/** The colour that is so much of `other`. */
function mix(color, other, share) {
	const parts = (hex) => hex.match(/[\da-f]{2}/gv).map((part) => Number.parseInt(part, 16));
	const [a, b] = [parts(color), parts(other)];
	return `#${a
		.map((part, index) =>
			Math.round(part * (1 - share) + b[index] * share)
				.toString(16)
				.padStart(2, "0"),
		)
		.join("")}`;
}

const escape = (text) => text.replaceAll(/[&<>"]/gv, (character) => `&#${character.codePointAt(0)};`);

const round = (number) => String(Math.round(number * 10) / 10);
const left = (column) => margin.x + column * cell.width;
const top = (row) => margin.top + row * cell.height;

/** Where a frame's character reaches: to the left, right, top and bottom of its cell. */
const arms = {
	"─": "lr",
	"│": "tb",
	"┌": "rb",
	"┐": "lb",
	"└": "rt",
	"┘": "lt",
	"├": "rtb",
	"┤": "ltb",
};
/** How much of the ink is in a block; a full one of pure ink would outshine the words. */
const blocks = { "█": 0.72, "░": 0.16 };

/** Neighbours that are alike, as {from, to, row, cell}; `keyOf` answers undefined for what is left out. */
function runsOf(rows, keyOf) {
	return rows.flatMap((cells, row) => {
		const runs = [];
		for (const [column, it] of cells.entries()) {
			const key = keyOf(it);
			const last = runs.at(-1);
			if (key !== undefined && last?.to === column && last.key === key) {
				last.to = column + 1;
				last.text += it.text;
			} else if (key !== undefined) {
				runs.push({ key, row, from: column, to: column + 1, text: it.text, cell: it });
			}
		}

		return runs;
	});
}

const rectangle = ({ row, from, to }, fill, inset = 0) =>
	`<rect x="${round(left(from))}" y="${round(top(row) + inset)}" width="${round((to - from) * cell.width)}" height="${round(cell.height - 2 * inset)}" fill="${fill}"/>`;

/** Eighths of a cell, from its bottom: the columns of graphs. */
const heights = [..."▁▂▃▄▅▆▇"];

function columns(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (heights.includes(text) ? `${text} ${fill}` : undefined));
	return runs.map(({ row, from, to, text, cell: { fill } }) => {
		const height = ((heights.indexOf(text[0]) + 1) / 8) * cell.height;
		return `<rect x="${round(left(from))}" y="${round(top(row) + cell.height - height)}" width="${round((to - from) * cell.width)}" height="${round(height)}" fill="${mix(background, fill, blocks["█"])}"/>`;
	});
}

function bars(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (blocks[text] === undefined ? undefined : `${text} ${fill}`));
	const text = rows.map((cells) => cells.map((it) => it.text).join(""));
	const below = text.findIndex((line) => line.startsWith("├"));
	const history = Math.max(...text.map((line) => line.indexOf("5-MIN")));
	// Bars stand apart from those above and below them; the columns of graphs go on from one row to the next.
	const inset = ({ row, from }) => (row > below || from >= history ? 0 : 3);
	return runs.map((run) => rectangle(run, mix(background, run.cell.fill, blocks[run.text[0]]), inset(run)));
}

/** The frames as one path for each colour: horizontal and vertical strokes through the middle of their cells. */
function frames(rows, color) {
	const reaches =
		(side) =>
		({ text, fill }) =>
			fill === color && arms[text]?.includes(side) ? "yes" : undefined;
	const middle = { x: cell.width / 2, y: cell.height / 2 };
	const strokes = [
		...["l", "r"].flatMap((side) =>
			runsOf(rows, reaches(side)).map(({ row, from, to }) => {
				const shift = side === "l" ? 0 : middle.x;
				const end = side === "l" ? middle.x - cell.width : 0;
				return `M${round(left(from) + shift)} ${round(top(row) + middle.y)}H${round(left(to) + end)}`;
			}),
		),
		...["t", "b"].flatMap((side) =>
			runsOf(rows, reaches(side)).flatMap(({ row, from, to }) =>
				Array.from({ length: to - from }, (_, index) => {
					const y = top(row) + (side === "t" ? 0 : middle.y);
					return `M${round(left(from + index) + middle.x)} ${round(y)}v${round(middle.y)}`;
				}),
			),
		),
	];
	return `<path d="${strokes.join("")}" stroke="${color}" fill="none"/>`;
}

/** Words, each at its place: blanks inside a text are as wide as a viewer likes, so there is one text for each word. */
function words(rows) {
	const isDrawn = (text) => text === " " || arms[text] !== undefined || blocks[text] !== undefined || heights.includes(text);
	const runs = runsOf(rows, ({ text, fill, bold }) => (isDrawn(text) ? undefined : `${fill} ${bold}`));
	const groups = Map.groupBy(runs, ({ key }) => key);
	return [...groups.values()].flatMap((group) => {
		const [
			{
				cell: { fill, bold },
			},
		] = group;
		const texts = group.map(
			({ row, from, to, text }) =>
				`<text x="${round(left(from))}" y="${round(top(row) + cell.baseline)}" textLength="${round((to - from) * cell.width)}">${escape(text)}</text>`,
		);
		return [`<g fill="${fill}"${bold ? ' font-weight="700"' : ""}>`, ...texts, "</g>"];
	});
}

function draw(rows, title) {
	const width = round(size.columns * cell.width + 2 * margin.x);
	const height = round(size.rows * cell.height + margin.top + margin.bottom);
	const lights = ["#ff5f57", "#febc2e", "#28c840"];
	const inverse = runsOf(rows, ({ back }) => back);
	const edges = rows.flat().filter(({ text }) => arms[text] !== undefined);
	const frameColors = [...new Set(edges.map(({ fill }) => fill))];
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		`<title>${title}</title>`,
		`<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="#2f3742"/>`,
		...lights.map((fill, index) => `<circle cx="${26 + 20 * index}" cy="24" r="6" fill="${fill}"/>`),
		...bars(rows),
		...columns(rows),
		...inverse.map((run) => rectangle(run, run.cell.back)),
		...frameColors.map((color) => frames(rows, color)),
		'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,Liberation Mono,monospace" font-size="14">',
		...words(rows),
		"</g>",
		"</svg>",
		"",
	].join("\n");
}

const titles = {
	top: "canhazgpu top: eight GPUs, who holds each of them, what runs there, who waits, what happened",
	reserve: "canhazgpu top: a reservation just made by keys",
};
for (const [name, cells] of Object.entries(await play())) {
	const picture = draw(cells, titles[name]);
	writeFileSync(fileURLToPath(new URL(`${name}.svg`, import.meta.url)), picture);
	process.stdout.write(`media/${name}.svg: ${Math.round(picture.length / 1024)} KiB\n`);
}
