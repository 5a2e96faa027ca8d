/** Names from other people in a spreadsheet. Each must be one field, and none may be a formula. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {reportCsv} from '../../source/format/tables/report.js';

const csvOf = (keys: readonly string[]): string =>
	reportCsv(
		{
			rows: keys.map((key) => ({key, gpuHours: 1, percentage: 10, runCount: 1, manualCount: 0})),
		},
		'user',
	);

const rest = ['1.0000', '10.0', '1', '0'];

/** Splits a line at this separator, like a spreadsheet. */
function fieldsOf(line: string, separator: string): readonly string[] {
	const fields: string[] = [];
	let isQuoted = false;
	let field = '';
	for (let index = 0; index < line.length; index++) {
		const character = line[index]!;
		if (isQuoted && character === '"' && line[index + 1] === '"') {
			field += '"';
			index++;
		} else if (character === '"' && (isQuoted || field === '')) {
			isQuoted = !isQuoted;
		} else if (!isQuoted && character === separator) {
			fields.push(field);
			field = '';
		} else {
			field += character;
		}
	}

	return [...fields, field];
}

const formulaSigns = [...'=+-@＝＋－＠﹦﹢﹣﹫−'];

test.each(
	formulaSigns.flatMap((sign) => [
		`${sign}1+1`,
		` ${sign}1+1`,
		`\t${sign}1+1`,
		`\r${sign}1`,
		`\u{200B}${sign}1`,
		`;${sign}1`,
		`a;${sign}1`,
	]),
)('report --csv writes the name %j so that no spreadsheet reads it as a formula', (name) => {
	const line = csvOf([name]).split('\n', 2)[1]!;
	for (const separator of [',', ';', '\t']) {
		for (const field of fieldsOf(line, separator)) {
			expect(formulaSigns).not.toContain(field.charAt(0));
		}
	}
});

test('report --csv writes ordinary names unchanged', () => {
	expect(csvOf(['bob', 'GPU 0', 'Ren\u{E9}', "d'Arc", '日本'])).toBe(
		[
			'user,gpu_hours,percentage,run_count,manual_count',
			...['bob', 'GPU 0', 'Ren\u{E9}', "d'Arc", '日本'].map((name) => [name, ...rest].join(',')),
		].join('\n'),
	);
});

test('report --csv writes any name as one field of one line, for every separator', () => {
	const name = fc
		.array(
			fc.oneof(
				fc.string({unit: 'binary', maxLength: 3}),
				fc.constantFrom(...formulaSigns, '"', ',', ';', '\t', '\r', '\n', ' '),
			),
		)
		.map((parts) => parts.join(''));
	fc.assert(
		fc.property(fc.array(name, {maxLength: 5}), (names) => {
			const lines = csvOf(names).split('\n');
			expect(lines).toHaveLength(names.length + 1);
			for (const line of lines.slice(1)) {
				expect(fieldsOf(line, ',').slice(1)).toEqual(rest);
				expect(fieldsOf(line, ',')).toHaveLength(5);
				expect(fieldsOf(line, ';')).toHaveLength(1);
				expect(formulaSigns).not.toContain(fieldsOf(line, ',')[0]!.charAt(0));
			}
		}),
		{numRuns: 2000},
	);
});
