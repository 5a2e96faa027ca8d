/**
The built program, as files.
*/
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {program} from '../_helpers/program/cli.js';

const directory = path.dirname(program);
const files = readdirSync(directory, {recursive: true, encoding: 'utf8'}).filter((file) => file.endsWith('.js'));

test('the bundle is ASCII: V8 keeps a source with any other character in twice the memory', () => {
	expect(files.length).toBeGreaterThan(10);
	expect(files.filter((file) => readFileSync(path.join(directory, file)).some((byte) => byte > 0x7f))).toEqual([]);
});

test('no file imports what would load all of a module of Node', () => {
	const imports = files.flatMap((file) =>
		readFileSync(path.join(directory, file), 'utf8')
			.split('\n')
			.filter((line) => /^import .* from "node:/v.test(line) && !/^import [^*]* from "node:module";$/v.test(line)),
	);
	// A bundled package asks for it as a whole.
	expect(imports.filter((line) => !line.includes('* as '))).toEqual([]);
});

test('no file only hands on what is in another, and each that is imported is there', () => {
	for (const file of files) {
		const code = readFileSync(path.join(directory, file), 'utf8');
		expect(code).not.toMatch(/^export \{[^\}]*\} from "[^"]+";\s*$/v);
		for (const {groups} of code.matchAll(/\b(?:from |import\()"(?<name>\.\.?\/[^"]+)"/gv)) {
			expect(files).toContain(path.join(path.dirname(file), groups!['name']!));
		}
	}
});

test('what every verb loads takes no module of Node that most of them never call', () => {
	const everyStart = files.filter((file) => /^(?:cli|chunks\/(?:start|common)-.*)\.js$/v.test(file));
	expect(everyStart).toHaveLength(3);
	const taken = everyStart.flatMap((file) =>
		readFileSync(path.join(directory, file), 'utf8')
			.split('\n')
			.filter((line) => /^const .*getBuiltinModule\("node:(?:child_process|util|tty|net|crypto)"\)/v.test(line)),
	);
	expect(taken).toEqual([]);
});

test('a Node that knows no getBuiltinModule loads the program, to be told that it is too old', () => {
	const preload = `data:text/javascript,${encodeURIComponent('process.getBuiltinModule = undefined')}`;
	const words = execFileSync(process.execPath, ['--import', preload, program, '--version'], {encoding: 'utf8'});
	expect(words).toMatch(/^\d+\.\d+\.\d+\n$/v);
});
