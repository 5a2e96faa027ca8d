/** Draws the cells of a terminal's screen. Frames and bars are shapes, and every word has its place and its width. */

const cell = { width: 8.4, height: 18, baseline: 13.2 };
const margin = { x: 20, top: 52, bottom: 20 };
export const background = "#10141a";
export const foreground = "#d5dae1";

/** Mixes a colour with a part of `other`. */
export function mix(color, other, share) {
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

/** The sides of its cell that a frame's character reaches: left, right, top, bottom. */
const arms = {
	"─": "lr",
	"│": "tb",
	"┌": "rb",
	"┐": "lb",
	"└": "rt",
	"┘": "lt",
	"├": "rtb",
	"┤": "ltb",
	"┬": "lrb",
	"┴": "lrt",
	"┼": "lrtb",
};
/** Round corners: between which two sides of the cell. */
const corners = { "╭": "rb", "╮": "lb", "╰": "rt", "╯": "lt" };
/** How much of the ink is in a block; a full one of pure ink would outshine the words. */
const blocks = { "█": 0.72, "░": 0.16 };

/** Returns runs of equal neighbours as {from, to, row, cell}. Cells for which `keyOf` returns undefined are left out. */
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

/** Eighths of a cell, from its left: the ends of bars. */
const widths = [..."▏▎▍▌▋▊▉"];

/** Bars stand apart from those above and below them. */
const barInset = 3;

function barEnds(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (widths.includes(text) ? `${text} ${fill}` : undefined));
	return runs.map(({ row, from, text, cell: { fill } }) => {
		const width = ((widths.indexOf(text[0]) + 1) / 8) * cell.width;
		return `<rect x="${round(left(from))}" y="${round(top(row) + barInset)}" width="${round(width)}" height="${round(cell.height - 2 * barInset)}" fill="${mix(background, fill, blocks["█"])}"/>`;
	});
}

function bars(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (blocks[text] === undefined ? undefined : `${text} ${fill}`));
	const text = rows.map((cells) => cells.map((it) => it.text).join(""));
	const below = text.findIndex((line) => line.startsWith("├"));
	const history = Math.max(...text.map((line) => line.indexOf("5-MIN")));
	// The columns of graphs go on from one row to the next.
	const inset = ({ row, from }) => (row > below || (history >= 0 && from >= history) ? 0 : barInset);
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

/** The middle of a side of a cell. */
const sideOf = (row, column, side) =>
	({
		l: [left(column), top(row) + cell.height / 2],
		r: [left(column + 1), top(row) + cell.height / 2],
		t: [left(column) + cell.width / 2, top(row)],
		b: [left(column) + cell.width / 2, top(row) + cell.height],
	})[side]
		.map(round)
		.join(" ");

function roundCorners(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (corners[text] === undefined ? undefined : `${text} ${fill}`));
	return runs.map(({ row, from, text, cell: { fill } }) => {
		const [first, second] = corners[text[0]];
		const middle = `${round(left(from) + cell.width / 2)} ${round(top(row) + cell.height / 2)}`;
		return `<path d="M${sideOf(row, from, first)}Q${middle} ${sideOf(row, from, second)}" stroke="${fill}" fill="none"/>`;
	});
}

const firstBraille = 0x28_00;
const isBraille = (text) => text >= "\u{2800}" && text <= "\u{28FF}";
/** The column and the line of each dot in its cell, by bit. */
const dots = [
	[0, 0],
	[0, 1],
	[0, 2],
	[1, 0],
	[1, 1],
	[1, 2],
	[0, 3],
	[1, 3],
];

/** The dots of graphs, as one path for each colour. */
function brailleDots(rows) {
	const runs = runsOf(rows, ({ text, fill }) => (isBraille(text) ? fill : undefined));
	return [...Map.groupBy(runs, ({ key }) => key)].map(([fill, group]) => {
		const strokes = group.flatMap(({ row, from, text }) =>
			[...text].flatMap((character, place) =>
				dots
					.filter((_, bit) => ((character.codePointAt(0) - firstBraille) >> bit) % 2 === 1)
					.map(([column, line]) => {
						const x = left(from + place) + ((column + 0.5) * cell.width) / 2;
						const y = top(row) + ((line + 0.5) * cell.height) / 4;
						return `M${round(x)} ${round(y)}h0`;
					}),
			),
		);
		return `<path d="${strokes.join("")}" stroke="${fill}" stroke-width="2.6" stroke-linecap="round"/>`;
	});
}

/** Words, each at its place: blanks inside a text are as wide as a viewer likes, so there is one text for each word. */
function words(rows) {
	const isDrawn = (text) => text === " " || isBraille(text) || arms[text] !== undefined || corners[text] !== undefined || blocks[text] !== undefined || heights.includes(text) || widths.includes(text);
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

/** The screen, given as rows of {text, fill, back, track, bold}, as an SVG. */
export function draw(rows, title) {
	const width = round(rows[0].length * cell.width + 2 * margin.x);
	const height = round(rows.length * cell.height + margin.top + margin.bottom);
	const lights = ["#ff5f57", "#febc2e", "#28c840"];
	const inverse = runsOf(rows, ({ back }) => back);
	const edges = rows.flat().filter(({ text }) => arms[text] !== undefined);
	const frameColors = [...new Set(edges.map(({ fill }) => fill))];
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
		`<title>${title}</title>`,
		`<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${background}" stroke="#2f3742"/>`,
		...lights.map((fill, index) => `<circle cx="${26 + 20 * index}" cy="24" r="6" fill="${fill}"/>`),
		...runsOf(rows, ({ track }) => track).map((run) => rectangle(run, run.cell.track, barInset)),
		...bars(rows),
		...barEnds(rows),
		...columns(rows),
		...inverse.map((run) => rectangle(run, run.cell.back)),
		...frameColors.map((color) => frames(rows, color)),
		...roundCorners(rows),
		...brailleDots(rows),
		'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,Liberation Mono,monospace" font-size="14">',
		...words(rows),
		"</g>",
		"</svg>",
		"",
	].join("\n");
}
