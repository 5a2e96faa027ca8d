/** A pool in a file that is damaged, or of a later version: clear words from every verb, exit code 4, and nothing is lost. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {expect, test} from 'vitest';
import type {Box} from '../_helpers/cli.js';
import {freshEmbeddedBox, peek} from '../_helpers/processes.js';

const kindsIn = async (box: Box) => (await peek(box)).gpus.map(({kind}) => kind);

const database = (box: Box): string => path.join(box.poolDirectory, 'pool.sqlite');

test('a database of a later version is refused by every verb, and left as it is', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve');
	const file = new DatabaseSync(database(box));
	file.exec('PRAGMA user_version = 9');
	file.close();
	for (const verb of ['status', 'reserve', 'release', 'run -- true', 'admin --gpus 2 --provider fake --force']) {
		expect(await box.run(verb), verb).toEqual({
			exitCode: 4,
			stdout: '',
			stderr: `Error: The GPU pool ${database(box)} was made by a later version of canhazgpu (its form is 9, this version knows 2)\nUse that version.\n`,
		});
	}

	const again = new DatabaseSync(database(box));
	again.exec('PRAGMA user_version = 2');
	again.close();
	expect(await kindsIn(box)).toEqual(['leased', 'free']);
});

test('a database with a broken middle is said to be damaged, by every verb, and nothing writes over it', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve');
	const whole = readFileSync(database(box));
	writeFileSync(
		database(box),
		Uint8Array.from(whole, (byte, place) => (place < 4096 ? byte : 0xaa)),
	);
	const broken = readFileSync(database(box));
	for (const verb of ['status', 'reserve', 'release', 'run -- true', 'queue']) {
		const ran = await box.run(verb);
		expect(ran, verb).toMatchObject({exitCode: 4, stdout: ''});
		expect(ran.stderr, verb).toBe(
			`Error: The GPU pool ${database(box)} is damaged\nMove it away, and make a new pool: canhazgpu admin --store embedded\n`,
		);
	}

	expect(readFileSync(database(box)).equals(broken)).toBe(true);
	writeFileSync(database(box), whole);
	expect(await kindsIn(box)).toEqual(['leased', 'free']);
});
