/**
`npm run picture`: runs the built monitor on a terminal and draws what it shows as media/top.svg, an idle reservation as media/idle.svg, and a
reservation made by keys as media/reserve.svg. Five minutes pass for the monitor in a quarter of one, so that its graphs have something to show.
Frames and bars are drawn as shapes and every word has its place and its width, so it looks the same in any font.
*/
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openTerminal } from "../test/_helpers/machine/terminal.ts";
import { background, draw, foreground, mix } from "./draw-screen.js";

const program = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

const size = { columns: 120, rows: 32 };
/** The colours of the terminal's palette that the monitor uses, by number. */
const palette = { 1: "#ff7b72", 2: "#6bd968", 3: "#f2c14b", 4: "#7cb7ff", 5: "#e08cf0", 6: "#5cd6dd" };

/** So many times as fast does time go by for the monitor, for so many milliseconds. */
const haste = { factor: 10, lasts: 32_000 };

/** Runs before the program: a hurried clock (people take their usual time, or the box would be full), and a machine and an account that are nobody's. */
const neutral = `data:text/javascript,
import fs from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import sleeping from 'node:timers/promises';
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
}
const sleep = sleeping.setTimeout;
sleeping.setTimeout = (delay, ...rest) => sleep(delay <= 2000 && passed() < ${haste.lasts} ? delay / factor : delay, ...rest);
syncBuiltinESMExports();`;

const keys = { home: "\u{1B}[H", down: "\u{1B}[B" };

async function select(terminal, gpu) {
	terminal.write(keys.home);
	for (let row = 0; row < gpu; row++) {
		terminal.write(keys.down);
	}

	await terminal.waitFor(`Detail GPU ${gpu} `);
}

/** The demonstration's GPUs, a warning about an idle one, and then a reservation by keys. */
async function play() {
	const home = mkdtempSync(path.join(tmpdir(), "canhazgpu-picture-"));
	const terminal = openTerminal(
		process.execPath,
		["--import", neutral.replaceAll(/[\n\t]+/gv, " "), program, "top", "--demo"],
		{ ...size, cwd: home, environment: { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", COLORTERM: "truecolor", TZ: "UTC" } },
	);
	try {
		await terminal.waitFor(/> 0 +Reserved/v);
		// Waits until the quick scans of the start are over, and some at the usual pace have followed.
		await sleep(haste.lasts + 3000);
		// The user was warned, and keeps the GPU.
		await select(terminal, 10);
		await terminal.waitFor("E Keep 2h");
		const idle = cellsOf(terminal.emulator);
		terminal.write("E");
		await terminal.waitFor("OK kept GPU 10");
		await terminal.waitFor((screen) => !screen.includes("OK kept"));
		await select(terminal, 0);
		const top = cellsOf(terminal.emulator);
		terminal.write("r");
		await terminal.waitFor("Reserve GPUs");
		terminal.write("1\t4h\teval 70B");
		await terminal.waitFor(`--gpus 1 --duration 4h --note 'eval 70B'`);
		terminal.write("\r");
		await terminal.waitFor(/Mine 2[\s\S]* OK reserved GPU/v);
		await select(terminal, 11);
		return { top, idle, reserve: cellsOf(terminal.emulator) };
	} finally {
		await terminal.close();
		rmSync(home, { recursive: true, force: true });
	}
}

const hexOf = (color) => `#${color.toString(16).padStart(6, "0")}`;

/** Rows of {text, fill, back, track, bold}, one for each column. */
function cellsOf({ buffer: { active } }) {
	return Array.from({ length: size.rows }, (_, row) => {
		const line = active.getLine(row);
		return Array.from({ length: size.columns }, (_, column) => {
			const it = line.getCell(column);
			const own = it.isFgDefault()
				? foreground
				: it.isFgRGB()
					? hexOf(it.getFgColor())
					: (palette[it.getFgColor() % 8] ?? foreground);
			const ink = it.isDim() ? mix(own, background, 0.45) : own;
			return {
				text: it.getChars() || " ",
				fill: it.isInverse() ? background : ink,
				back: it.isInverse() ? ink : undefined,
				track: it.isBgRGB() ? hexOf(it.getBgColor()) : undefined,
				bold: it.isBold() !== 0,
			};
		});
	});
}

const titles = {
	top: "canhazgpu top: twelve GPUs, who holds each of them, what runs there, who waits, what happened",
	idle: "canhazgpu top: a reservation that is idle, when it goes back, and the key that keeps it",
	reserve: "canhazgpu top: a reservation just made by keys",
};
for (const [name, cells] of Object.entries(await play())) {
	const picture = draw(cells, titles[name]);
	writeFileSync(fileURLToPath(new URL(`${name}.svg`, import.meta.url)), picture);
	process.stdout.write(`media/${name}.svg: ${Math.round(picture.length / 1024)} KiB\n`);
}
