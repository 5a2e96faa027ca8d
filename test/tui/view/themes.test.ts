/** The colors of the themes: readable on their background, and distinguishable with any color vision. */
import {expect, test} from 'vitest';
import {themeNames} from '../../../source/format/monitor-settings.js';
import {isLight, schemeOf, stylesOf, themeOf, type Theme} from '../../../source/tui/theme.js';
import {loadTone, type Tone} from '../../../source/tui/themes/tones.js';

type Rgb = readonly [number, number, number];

/** Linear light, from 0 to 1. */
const linear = (color: string): Rgb =>
	[1, 3, 5].map((start) => {
		const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	}) as unknown as Rgb;

const luminance = ([red, green, blue]: Rgb): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio */
const contrast = (color: string, ground: number): number => {
	const light = luminance(linear(color));
	return (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
};

test.each([
	['high-contrast-dark', 0, 7],
	['high-contrast-light', 1, 7],
	['color-blind-dark', 0, 4.5],
	['color-blind-light', 1, 4.5],
] as const)(
	'every color of the theme %s on a background of luminance %d has a contrast of at least %d',
	(theme, ground, least) => {
		for (const [tone, {color, dimColor = false}] of Object.entries(stylesOf(theme))) {
			const isReadable = color === undefined || tone === 'frame' || contrast(color, ground) >= least;
			expect([tone, color, isReadable, dimColor]).toEqual([tone, color, true, false]);
		}
	},
);

/** Machado, Oliveira, Fernandes (2009): colors as seen without one kind of cones, in linear light. */
const eyes: Readonly<Record<string, readonly Rgb[]>> = {
	usual: [
		[1, 0, 0],
		[0, 1, 0],
		[0, 0, 1],
	],
	protanopia: [
		[0.152286, 1.052583, -0.204868],
		[0.114503, 0.786281, 0.099216],
		[-0.003882, -0.048116, 1.051998],
	],
	deuteranopia: [
		[0.367322, 0.860646, -0.227968],
		[0.280085, 0.672501, 0.047413],
		[-0.01182, 0.04294, 0.968881],
	],
	tritanopia: [
		[1.255528, -0.076749, -0.178779],
		[-0.078411, 0.930809, 0.147602],
		[0.004733, 0.691367, 0.3039],
	],
};

const seenBy = (color: Rgb, matrix: readonly Rgb[]): Rgb =>
	matrix.map((row) =>
		Math.min(
			1,
			Math.max(
				0,
				row.reduce((sum, weight, channel) => sum + weight * color[channel]!, 0),
			),
		),
	) as unknown as Rgb;

/** CIE Lab, in which distances match perception. */
function lab([red, green, blue]: Rgb): Rgb {
	const bend = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
	const x = bend((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
	const y = bend(luminance([red, green, blue]));
	const z = bend((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const distance = (one: Rgb, other: Rgb): number => Math.hypot(...one.map((value, axis) => value - other[axis]!));

const states = ['free', 'mine', 'others', 'warning', 'error'] as const satisfies readonly Tone[];

/** The least distance between two states, for each kind of color vision. */
const leastDistances = (theme: Theme): readonly number[] =>
	Object.values(eyes).map((matrix) => {
		const seen = states.map((tone) => lab(seenBy(linear(stylesOf(theme)[tone].color!), matrix)));
		return Math.min(...seen.flatMap((one, index) => seen.slice(index + 1).map((other) => distance(one, other))));
	});

test('color-blind themes keep the states distinguishable with any color vision, unlike the default theme', () => {
	for (const theme of ['color-blind-dark', 'color-blind-light'] as const) {
		expect(Math.min(...leastDistances(theme))).toBeGreaterThan(30);
	}

	expect(Math.min(...leastDistances('high-contrast-light'))).toBeLessThan(20);
});

/** The hue of a color in degrees. Undefined for grey. */
function hueOf(color: string): number | undefined {
	const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16)) as [
		number,
		number,
		number,
	];
	const range = Math.max(red, green, blue) - Math.min(red, green, blue);
	if (range === 0) {
		return undefined;
	}

	const sixths =
		range === red - Math.min(green, blue)
			? (green - blue) / range
			: range === green - Math.min(red, blue)
				? 2 + (blue - red) / range
				: 4 + (red - green) / range;
	return (sixths * 60 + 360) % 360;
}

const tenths = Array.from({length: 11}, (_, tenth) => tenth / 10);

/** Tones that share a meaning. Load tones share those of equally good or bad states. */
const meanings: ReadonlyArray<readonly Tone[]> = [
	['free', 'success'],
	['warning'],
	['error'],
	['mine'],
	['key', 'focus'],
	tenths.map((share) => loadTone('memory', share)),
];

test.each(['dark', 'dark-gradient', 'light', 'light-gradient', 'high-contrast-dark', 'high-contrast-light'] as const)(
	'each hue in the theme %s has one meaning, and GPUs leased by other users are drawn without a hue',
	(theme) => {
		const colorsOf = (tones: readonly Tone[]): readonly string[] => [
			...new Set(tones.map((tone) => stylesOf(theme)[tone].color!.replace('Bright', ''))),
		];
		for (const [index, tones] of meanings.entries()) {
			for (const one of colorsOf(tones)) {
				for (const other of meanings.slice(index + 1).flatMap((others) => colorsOf(others))) {
					const areHues = one.startsWith('#') && other.startsWith('#');
					const turn = areHues ? Math.abs(hueOf(one)! - hueOf(other)!) : one === other ? 0 : 360;
					expect([one, other, turn === 360 || Math.min(turn, 360 - turn) >= 25]).toEqual([one, other, true]);
				}
			}
		}

		const {color} = stylesOf(theme).others;
		expect(color === undefined ? undefined : hueOf(color)).toBeUndefined();
	},
);

test('the theme "terminal" uses only colors of the terminal', () => {
	const theme = themeOf({hasColor: true, isLight: false, hasGradients: true, scheme: 'terminal'});
	for (const {color} of Object.values(stylesOf(theme))) {
		expect(color ?? '').not.toContain('#');
	}
});

test.each(['light-16', 'high-contrast-dark-16', 'high-contrast-light-16', 'color-blind-dark-16', 'dark'] as const)(
	'the theme %s in 16 colors uses only those colors, and keeps the states distinguishable',
	(theme) => {
		for (const {color = ''} of Object.values(stylesOf(theme))) {
			expect(color).not.toContain('#');
		}

		expect(new Set(states.map((tone) => JSON.stringify(stylesOf(theme)[tone]))).size).toBe(states.length);
	},
);

test('every theme has a variant for 16 colors', () => {
	const themes = (colors?: string) =>
		themeNames.map((name) =>
			themeOf({
				hasColor: true,
				isLight: isLight(name, colors),
				hasGradients: false,
				hasSixteenColors: true,
				scheme: schemeOf(name),
			}),
		);
	expect(themes()).toEqual([
		'dark',
		'dark',
		'light-16',
		'high-contrast-dark-16',
		'high-contrast-light-16',
		'color-blind-dark-16',
		'light-16',
		'dark',
	]);
});

test("themeOf follows the background in the theme's name, or else the background of the terminal", () => {
	const themes = (colors?: string) =>
		themeNames.map((name) =>
			themeOf({hasColor: true, isLight: isLight(name, colors), hasGradients: true, scheme: schemeOf(name)}),
		);
	expect(themes()).toEqual([
		'dark-gradient',
		'dark-gradient',
		'light-gradient',
		'high-contrast-dark',
		'high-contrast-light',
		'color-blind-dark',
		'color-blind-light',
		'dark',
	]);
	expect(themes('0;15')).toEqual([
		'light-gradient',
		'dark-gradient',
		'light-gradient',
		'high-contrast-light',
		'high-contrast-light',
		'color-blind-light',
		'color-blind-light',
		'dark',
	]);
	expect(themeOf({hasColor: false, isLight: false, hasGradients: true, scheme: 'color-blind'})).toBe('mono');
});
