/** The output of Ink as it is bundled, which remembers its lines, draws the same as that of Ink itself, frame after frame. */
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import fc from 'fast-check';
import {Chalk} from 'chalk';
import {expect, onTestFinished, test} from 'vitest';
import {withMemory} from '../../.config/ink-output.js';

type Place = {readonly x: number; readonly y: number; readonly text: string};

type Output = {
	write: (x: number, y: number, text: string, options: {readonly transformers: readonly never[]}) => void;
	clip: (clip: {readonly x1: number; readonly x2: number; readonly y1: number; readonly y2: number}) => void;
	unclip: () => void;
	get: () => {readonly output: string; readonly height: number};
};

type OutputClass = new (size: {readonly width: number; readonly height: number}) => Output;

const inkFile = fileURLToPath(new URL('../../node_modules/ink/build/output.js', import.meta.url));

/** A file of Ink, changed and unchanged, where its imports are found. */
async function outputs(): Promise<{readonly plain: OutputClass; readonly remembering: OutputClass}> {
	const folder = mkdtempSync(path.join(tmpdir(), 'canhazgpu-ink-'));
	onTestFinished(() => {
		rmSync(folder, {recursive: true});
	});
	const source = readFileSync(inkFile, 'utf8');
	const load = async (name: string, code: string): Promise<OutputClass> => {
		const file = path.join(folder, name);
		const found = code.replaceAll(
			/from '(?<package>[^']+)'/gv,
			(_, specifier: string) => `from '${import.meta.resolve(specifier)}'`,
		);
		writeFileSync(file, found.replace(/\n\/\/# sourceMappingURL=.*$/v, ''));
		const module = (await import(pathToFileURL(file).href)) as {readonly default: OutputClass};
		return module.default;
	};

	return {
		plain: await load('plain.mjs', source),
		remembering: await load('remembering.mjs', withMemory(source, inkFile)),
	};
}

const colored = new Chalk({level: 3});
const text = fc
	.array(
		fc.tuple(
			fc.constantFrom('a', '  ', 'wide 模型', '█▌', '👩‍🚀', '⣿⡇', 'e\u{301}', '\u{200B}', 'x\ny'),
			fc.constantFrom<(part: string) => string>(
				(part) => part,
				(part) => colored.red(part),
				(part) => colored.bold.hex('#7cb7ff')(part),
				(part) => colored.bgHex('#303030').green(part),
				(part) => colored.inverse.dim(part),
			),
		),
		{maxLength: 6},
	)
	.map((parts) => parts.map(([part, paint]) => paint(part)).join(''));

const frame = fc.array(fc.record<Place>({x: fc.integer({min: 0, max: 24}), y: fc.integer({min: -1, max: 7}), text}), {
	maxLength: 10,
});

const draw = (output: Output, places: readonly Place[], isClipped: boolean): string => {
	for (const {x, y, text: words} of places) {
		if (isClipped) {
			output.clip({x1: 2, x2: 17, y1: 1, y2: 5});
		}

		output.write(x, y, words, {transformers: []});
		if (isClipped) {
			output.unclip();
		}
	}

	return output.get().output;
};

test('the bundled output of Ink draws each of many frames as Ink does', async () => {
	const {plain: Plain, remembering: Remembering} = await outputs();
	fc.assert(
		fc.property(fc.array(fc.tuple(frame, fc.boolean()), {minLength: 1, maxLength: 6}), (frames) => {
			for (const [places, isClipped] of frames) {
				const size = {width: 26, height: 6};
				expect(draw(new Remembering(size), places, isClipped)).toBe(draw(new Plain(size), places, isClipped));
			}
		}),
		{numRuns: 300},
	);
});

test('a change of Ink that the bundled one does not know of fails the build, and other files stay as they are', () => {
	expect(() => withMemory('export default class Output {}', inkFile)).toThrow('Ink has changed');
	expect(withMemory('let a;', '/somewhere/else.js')).toBe('let a;');
});
