import {expect, test} from 'vitest';
import {isMissingPart} from '../source/errors.js';

const systemError = (code: string, file?: string): Error => Object.assign(new Error(code), {code, path: file});

test.each([
	['a file that is not found', systemError('ERR_MODULE_NOT_FOUND'), true],
	[
		'a file that disappears before it is read',
		systemError('ENOENT', '/opt/canhazgpu/dist/chunks/reserve-BiugLVUY.js'),
		true,
	],
	['a file of the user', systemError('ENOENT', '/home/alice/canhazgpu.yaml'), false],
	['another error of the system', systemError('EACCES', '/opt/canhazgpu/dist/chunks/reserve-BiugLVUY.js'), false],
])('isMissingPart judges %s', (_, error, isMissing) => {
	expect(isMissingPart(error)).toBe(isMissing);
});
