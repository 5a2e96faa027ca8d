/**
`npm run picture`: runs the built monitor on a terminal, reserves GPUs by keys, and draws what the terminal then shows as media/top.svg.
Frames and bars are drawn as shapes and every word has its place and its width, so it looks the same in any font.
*/
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openTerminal } from "../test/_helpers/terminal.ts";

const target = fileURLToPath(new URL("top.svg", import.meta.url));
const program = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

const size = { columns: 120, rows: 32 };
const cell = { width: 8.4, height: 18, baseline: 13.2 };
const margin = { x: 20, top: 52, bottom: 20 };
const background = "#10141a";
const foreground = "#d5dae1";
/** The colours of the terminal's palette that the monitor uses, by number. */
const palette = { 1: "#ff7b72", 2: "#6bd968", 3: "#f2c14b", 4: "#7cb7ff", 6: "#5cd6dd" };

/** Runs before the program: a machine and an account that are nobody's. */
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
syncBuiltinESMExports();`;

/** The monitor after a reservation by keys, on the demonstration's GPUs. */
async function play() {
	const home = mkdtempSync(path.join(tmpdir(), "canhazgpu-picture-"));
	const terminal = openTerminal(
		process.execPath,
		["--import", neutral.replaceAll(/[\n\t]+/gv, " "), program, "top", "--demo"],
		{ ...size, cwd: home, environment: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", TZ: "UTC" } },
	);
	try {
		await terminal.waitFor(/Free 4 {2}Mine 0[\s\S]*> 0 +reserved/v);
		terminal.write("r");
		await terminal.waitFor("Reserve GPUs");
		terminal.write("2\t4h\teval 70B");
		await terminal.waitFor(`--gpus 2 --duration 4h --note 'eval 70B'`);
		terminal.write("\r");
		await terminal.waitFor(/Free 2 {2}Mine 2[\s\S]* OK reserved GPUs/v);
		return cellsOf(terminal.emulator);
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

function bars(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (blocks[text] === undefined ? undefined : `${text} ${fill}`));
	return runs.map((run) => rectangle(run, mix(background, run.cell.fill, blocks[run.text[0]]), 3));
}

/** All the frames as one path: horizontal and vertical strokes through the middle of their cells. */
function frames(rows) {
	const reaches =
		(side) =>
		({ text }) =>
			arms[text]?.includes(side) ? "yes" : undefined;
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
	const color = rows.flat().find(({ text }) => arms[text] !== undefined)?.fill ?? foreground;
	return `<path d="${strokes.join("")}" stroke="${color}" fill="none"/>`;
}

/** Words, each at its place: blanks inside a text are as wide as a viewer likes, so there is one text for each word. */
function words(rows) {
	const isDrawn = (text) => text === " " || arms[text] !== undefined || blocks[text] !== undefined;
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

function draw(rows) {
	const width = round(size.columns * cell.width + 2 * margin.x);
	const height = round(size.rows * cell.height + margin.top + margin.bottom);
	const lights = ["#ff5f57", "#febc2e", "#28c840"];
	const inverse = runsOf(rows, ({ back }) => back);
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		"<title>canhazgpu top: eight GPUs, who holds each of them, and a reservation just made by keys</title>",
		`<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="#2f3742"/>`,
		...lights.map((fill, index) => `<circle cx="${26 + 20 * index}" cy="24" r="6" fill="${fill}"/>`),
		...bars(rows),
		...inverse.map((run) => rectangle(run, run.cell.back)),
		frames(rows),
		'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,Liberation Mono,monospace" font-size="14">',
		...words(rows),
		"</g>",
		"</svg>",
		"",
	].join("\n");
}

const picture = draw(await play());
writeFileSync(target, picture);
process.stdout.write(`media/top.svg: ${Math.round(picture.length / 1024)} KiB\n`);
