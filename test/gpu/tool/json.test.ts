import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {parseToolJson} from '../../../source/gpu/tool/json.js';

const pretty = (value: unknown) => JSON.stringify(value, undefined, 4);

test.each([
	['plain', pretty([{gpu: 0}]), [[{gpu: 0}]], []],
	['a warning before it', `WARNING: [drm] odd\n${pretty([{gpu: 0}])}\n`, [[{gpu: 0}]], ['WARNING: [drm] odd']],
	['a line that begins with a bracket', `[drm] odd\n${pretty({gpu: 0})}`, [{gpu: 0}], ['[drm] odd']],
	['printed twice', `${pretty([{gpu: 0}])}\n${pretty([{gpu: 0}])}\n`, [[{gpu: 0}], [{gpu: 0}]], []],
	['processors first', `${pretty([{cpu: 0}])}\r\nnote\r\n${pretty([{gpu: 0}])}`, [[{cpu: 0}], [{gpu: 0}]], ['note']],
	['brackets in a text', pretty({name: 'a "} ] b\\'}), [{name: 'a "} ] b\\'}], []],
	['numbers that are none', '{"power": NaN, "clock": [-Infinity]}', [{power: null, clock: [null]}], []],
	['nothing in it', '[]\n', [[]], []],
])('%s', (_name, text, documents, remarks) => {
	expect(parseToolJson(text)).toEqual({documents, remarks});
});

test.each([
	['cut short', pretty([{gpu: 0}, {gpu: 1}]).slice(0, -4)],
	['cut short, with a whole part', '[\n{"gpu": 0},\n{"gpu": 1}\n'],
	['no JSON', 'Traceback (most recent call last):\n'],
	['a dictionary of Python', "{'gpu': 0}"],
])('%s is not JSON', (_name, text) => {
	expect(parseToolJson(text)).toBeUndefined();
});

test('every document is found, whatever is between them', () => {
	const remark = fc.string().filter((line) => !/[\n\r"\[\]\{\}]/v.test(line));
	fc.assert(
		fc.property(fc.array(fc.tuple(remark, fc.dictionary(fc.string(), fc.jsonValue())), {minLength: 1}), (parts) => {
			const text = parts.map(([line, document]) => `${line}\n${pretty(document)}\n`).join('');
			const documents = parts.slice(0, 20).map(([, document]) => JSON.parse(pretty(document)) as unknown);
			expect(parseToolJson(text)?.documents).toEqual(documents);
		}),
	);
});
