import {expect, test} from 'vitest';
import {isMissingPart} from '../source/errors.js';

const systemError = (code: string, file?: string): Error => Object.assign(new Error(code), {code, path: file});

test.each([
	['true for a module that is not found', systemError('ERR_MODULE_NOT_FOUND'), true],
	[
		'true for a program file that disappears before it is read',
		systemError('ENOENT', '/opt/canhazgpu/dist/chunks/reserve-BiugLVUY.js'),
		true,
	],
	['false for a file of the user', systemError('ENOENT', '/home/alice/canhazgpu.yaml'), false],
	['false for another system error', systemError('EACCES', '/opt/canhazgpu/dist/chunks/reserve-BiugLVUY.js'), false],
])('isMissingPart is %s', (_, error, isMissing) => {
	expect(isMissingPart(error)).toBe(isMissing);
});
