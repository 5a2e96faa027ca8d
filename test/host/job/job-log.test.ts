/** The account's key beside the logs of its jobs, in real directories. */
import {createHmac} from 'node:crypto';
import {linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {sealOf} from '../../../source/host/job/job-log.js';

vi.mock(import('node:fs'), async (load) => {
	const fs = await load();
	return {...fs, linkSync: vi.fn(fs.linkSync)};
});

const content = [['--gpus', '1'], '/home/alice'];

function createDirectory(): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-key-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	return directory;
}

/** Seals twice with the same key, which is a file of 32 bytes that only the account can read. */
function expectLastingKey(directory: string): void {
	const seal = sealOf(directory, content);
	expect(readdirSync(directory)).toEqual(['.key']);
	const {size, mode} = statSync(path.join(directory, '.key'));
	expect([size, mode % 0o1000]).toEqual([32, 0o600]);
	expect(sealOf(directory, content)).toBe(seal);
}

test('sealOf creates a key of 32 bytes that only the account can read, and keeps it', () => {
	expectLastingKey(createDirectory());
});

test.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS'])(
	'sealOf keeps its key on a file system without hard links, where link fails with %s',
	(code) => {
		vi.mocked(linkSync).mockImplementationOnce(() => {
			throw Object.assign(new Error(code), {code});
		});
		expectLastingKey(createDirectory());
	},
);

test.each([0, 31])('sealOf replaces a key of only %i bytes, which a full disk can leave', (size) => {
	const directory = createDirectory();
	const file = path.join(directory, '.key');
	writeFileSync(file, '0'.repeat(32));
	truncateSync(file, size);
	const incomplete = readFileSync(file);
	const seal = sealOf(directory, content);
	expect(seal).not.toBe(createHmac('sha256', incomplete).update(JSON.stringify(content)).digest('hex'));
	expect(readdirSync(directory)).toEqual(['.key']);
	expect(statSync(file).size).toBe(32);
	expect(sealOf(directory, content)).toBe(seal);
});
