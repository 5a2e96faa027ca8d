/** Typed and pasted text in the fields of the monitor. */
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';
import {everyNth} from '../../_helpers/slow.js';
import {isShown, keys, startTop} from './_program.js';

const clearField = '\u{15}';

const pasted = (text: string): string => `\u{1B}[200~${text}\u{1B}[201~`;

/** Every printable ASCII character, in parts that fit the narrowest field. Each part has its space in the middle, where it is visible. */
const parts = Array.from({length: 7}, (_, part) =>
	Array.from({length: 14}, (__, index) => 0x20 + part * 14 + index)
		.filter((code) => code < 0x7f)
		.map((code) => String.fromCodePoint(code))
		.join('')
		.replace(' ', ''),
).map((text) => `${text.slice(0, 7)} ${text.slice(7)}`);

test('the texts that these tests type contain every printable ASCII character', () => {
	expect(new Set(parts.join('')).size).toBe(0x7f - 0x20);
});

test.each(
	everyNth(
		[
			['filter', '/'],
			['search', 'f'],
			['command line', ':'],
			['note of a reservation', `r${keys.tab.repeat(2)}`],
			['needs of a reservation', `r${keys.tab.repeat(3)}`],
			['note of a wait', `w${keys.tab.repeat(2)}`],
		],
		2,
	),
)('the field "%s" receives each character as typed or pasted', async (_, open) => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const top = startTop(box);
	await top.waitFor(isShown(2));
	for (const key of open) {
		top.write(key);
	}

	for (const part of parts) {
		top.write(clearField);
		for (const character of part) {
			top.write(character);
		}

		await top.waitFor(part);
		top.write(clearField);
		await top.waitFor((screen) => !screen.includes(part));
		top.write(pasted(part));
		await top.waitFor(part);
	}

	top.write(keys.escape);
});
