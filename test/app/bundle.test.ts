import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {program} from '../_helpers/program/cli.js';

const directory = path.dirname(program);
const files = readdirSync(directory, {recursive: true, encoding: 'utf8'}).filter((file) => file.endsWith('.js'));

test('the built JavaScript files contain only ASCII bytes', () => {
	expect(files.length).toBeGreaterThan(10);
	expect(files.filter((file) => readFileSync(path.join(directory, file)).some((byte) => byte > 0x7f))).toEqual([]);
});
