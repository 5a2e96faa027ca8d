import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {parseToolJson} from '../../../source/gpu/tool/json.js';

const pretty = (value: unknown) => JSON.stringify(value, undefined, 4);

test.each([
	['one document', pretty([{gpu: 0}]), [[{gpu: 0}]], []],
	[
		'a warning before the document',
		`WARNING: [drm] odd\n${pretty([{gpu: 0}])}\n`,
		[[{gpu: 0}]],
		['WARNING: [drm] odd'],
	],
	['a line that begins with a bracket', `[drm] odd\n${pretty({gpu: 0})}`, [{gpu: 0}], ['[drm] odd']],
	['the document printed twice', `${pretty([{gpu: 0}])}\n${pretty([{gpu: 0}])}\n`, [[{gpu: 0}], [{gpu: 0}]], []],
	[
		'a list of processors first',
		`${pretty([{cpu: 0}])}\r\nnote\r\n${pretty([{gpu: 0}])}`,
		[[{cpu: 0}], [{gpu: 0}]],
		['note'],
	],
	['brackets in a string', pretty({name: 'a "} ] b\\'}), [{name: 'a "} ] b\\'}], []],
	['NaN and Infinity', '{"power": NaN, "clock": [-Infinity]}', [{power: null, clock: [null]}], []],
	['an empty document', '[]\n', [[]], []],
])('parseToolJson reads output with %s', (_name, text, documents, remarks) => {
	expect(parseToolJson(text)).toEqual({documents, remarks});
});

test.each([
	['output that is cut short', pretty([{gpu: 0}, {gpu: 1}]).slice(0, -4)],
	['output that is cut short after a complete value', '[\n{"gpu": 0},\n{"gpu": 1}\n'],
	['a Python stack trace', 'Traceback (most recent call last):\n'],
	['a Python dictionary', "{'gpu': 0}"],
])('parseToolJson returns undefined for %s', (_name, text) => {
	expect(parseToolJson(text)).toBeUndefined();
});

test('parseToolJson finds the first 20 documents, whatever lines are between them', () => {
	const remark = fc.string().filter((line) => !/[\n\r"\[\]\{\}]/v.test(line));
	fc.assert(
		fc.property(fc.array(fc.tuple(remark, fc.dictionary(fc.string(), fc.jsonValue())), {minLength: 1}), (parts) => {
			const text = parts.map(([line, document]) => `${line}\n${pretty(document)}\n`).join('');
			const documents = parts.slice(0, 20).map(([, document]) => JSON.parse(pretty(document)) as unknown);
			expect(parseToolJson(text)?.documents).toEqual(documents);
		}),
	);
});
