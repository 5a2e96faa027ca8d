import {expect, test} from 'vitest';
import {needFlagsFor, parseNeeds, wishOf} from '../../../../source/core/rules/request/need-text.js';
import {memoryText, parseMemoryMiB} from '../../../../source/core/rules/request/memory-size.js';

const parseNeed = (text: string) => parseNeeds(text).need;

test('parseNeed reads GPU requirements, and needFlagsFor returns the equivalent flags', () => {
	expect(parseNeed('40G h100,a100 8.0 NVLink mixed')).toEqual({
		minMemoryMiB: 38_146,
		models: ['h100', 'a100'],
		minCompute: '8.0',
		sameModel: false,
		nvlink: true,
	});
	expect(needFlagsFor('40G h100,a100 8.0 NVLink mixed')).toEqual([
		'--min-memory',
		'40G',
		'--model',
		'h100,a100',
		'--min-compute',
		'8.0',
		'--mixed',
		'--nvlink',
	]);
	expect(parseNeed(' ')).toBeUndefined();
	expect(parseNeed('rtx 4090')).toMatchObject({models: ['rtx', '4090']});
});

test('parseNeed reads a MIG profile as a request for a MIG instance on any GPU model', () => {
	expect(parseNeed('1g.10GB a100')).toEqual({mig: {profile: '1g.10gb'}, models: ['a100']});
	expect(needFlagsFor('1g.10GB a100')).toEqual(['--model', 'a100', '--mig', '1g.10gb']);
	expect(() => parseNeed('1g.10gb 40G')).toThrow(
		'Needs: 1g.10gb asks for a MIG instance, but "40G" applies only to whole GPUs',
	);
});

test.each([
	'40',
	'40G 80G',
	'8.0 9.0',
	'-',
	'0G',
	'1g.10gb 2g.20gb',
	'1g.10gb 40G',
	'1g.10gb nvlink',
	'mixed 1g.10gb',
	'pack cool',
	'1g.10gb pack',
])('parseNeed rejects %j', (text) => {
	expect(() => parseNeed(text)).toThrow('Needs: ');
	expect(needFlagsFor(text)).toEqual([]);
});

test('parseNeeds accepts the name of a strategy among the requirements', () => {
	expect(parseNeeds('Topology a100 nvlink')).toEqual({
		need: expect.objectContaining({models: ['a100'], nvlink: true}) as unknown,
		strategy: 'topology',
	});
	expect(parseNeeds('pack')).toEqual({need: undefined, strategy: 'pack'});
	expect(needFlagsFor('40G Cool')).toEqual(['--min-memory', '40G', '--strategy', 'cool']);
});

test('wishOf rejects requirements that contradict the share or the count', () => {
	expect(wishOf({count: 2, needs: 'nvlink', share: '8G'})).toEqual({
		need: expect.objectContaining({nvlink: true, shareMiB: 8192}) as unknown,
		strategy: undefined,
	});
	expect(() => wishOf({count: 1, needs: 'nvlink', share: ''})).toThrow('you asked for only one GPU');
	expect(() => wishOf({count: 1, needs: '1g.10gb', share: '8G'})).toThrow('a MIG instance cannot be shared');
	expect(() => wishOf({count: 1, needs: '', share: '8'})).toThrow('Share: "8" has no unit');
});

test('parseMemoryMiB reads sizes as decimal, unless their units are binary', () => {
	expect(['40G', '40gb', '40GiB', '40Gi', '512M', '1.5T', '81559MiB'].map((text) => parseMemoryMiB(text))).toEqual([
		38_146, 38_146, 40_960, 40_960, 488, 1_430_511, 81_559,
	]);
	expect(['40', 'G', '-1G', '0G', '0.5M', '1e3G', '40GG', ''].map((text) => parseMemoryMiB(text))).toEqual(
		Array.from({length: 8}, () => undefined),
	);
	expect(['40G', '24G', '80G', '141G', '512M'].map((text) => memoryText(parseMemoryMiB(text)!))).toEqual([
		'40G',
		'24G',
		'80G',
		'141G',
		'512M',
	]);
});
