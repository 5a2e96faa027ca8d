/** A file-based pool on a disk that is full or read-only: clear errors, exit code 4, and no data loss. */
import {execFileSync} from 'node:child_process';
import {closeSync, mkdirSync, openSync, rmSync, writeSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createBox, type Box} from '../_helpers/program/cli.js';
import {isAlive, peek, recordsOf} from '../_helpers/program/processes.js';
import {startSleeper} from '../commands/run/_sleeper.js';

const mount = (...words: readonly string[]): void => {
	execFileSync('mount', [...words], {stdio: 'ignore'});
};

const canMount = ((): boolean => {
	const {home, remove} = createBox();
	try {
		mount('-t', 'tmpfs', 'tmpfs', home);
		execFileSync('umount', [home]);
		return true;
	} catch {
		return false;
	} finally {
		remove();
	}
})();

/** A box whose pool is on its own disk of 1 MiB. */
async function boxOnSmallDisk(): Promise<Box> {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	mkdirSync(box.poolDirectory);
	mount('-t', 'tmpfs', '-o', 'size=1m,mode=0755', 'tmpfs', box.poolDirectory);
	onTestFinished(() => {
		// A lazy unmount works even if processes still use the disk.
		execFileSync('umount', ['--lazy', box.poolDirectory]);
		box.remove();
	});
	expect(await box.run('admin --gpus 3 --provider fake')).toMatchObject({exitCode: 0});
	return box;
}

function fill(directory: string): {readonly free: () => void} {
	const file = path.join(directory, 'ballast');
	const descriptor = openSync(file, 'w');
	for (const size of [65_536, 4096]) {
		try {
			for (;;) {
				writeSync(descriptor, new Uint8Array(size));
			}
		} catch {}
	}

	closeSync(descriptor);
	return {
		free() {
			rmSync(file);
		},
	};
}

const kindsIn = async (box: Box) => (await peek(box)).gpus.map(({kind}) => kind);

describe.skipIf(!canMount)('a pool on a disk', () => {
	test('that is full makes commands fail, but loses no data and ends no job', async () => {
		const box = await boxOnSmallDisk();
		await box.run('reserve --gpu-ids 1 --note kept');
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const ballast = fill(box.poolDirectory);
		for (const command of ['release --gpu-ids 1', 'extend --duration 1h', 'admin --drain 1', 'reserve --nonblock']) {
			const ran = await box.run(command);
			expect(ran, command).toMatchObject({exitCode: 4, stdout: ''});
			expect(ran.stderr, command).toBe(
				`Error: The GPU pool ${box.poolDirectory}/pool.sqlite cannot be written: the disk is full\nFree some space. Nothing was changed.\n`,
			);
		}

		expect((await box.run('status --json')).stdout).toContain('"note": "kept"');
		expect(isAlive(pid)).toBe(true);
		ballast.free();
		expect(await kindsIn(box)).toEqual(['leased', 'leased', 'free']);
		expect(await box.run('release --gpu-ids 1')).toMatchObject({exitCode: 0, stdout: 'Released 1 GPU(s): [1]\n'});
		process.kill(pid, 'SIGTERM');
		expect(await wrapper.ended).toMatchObject({exitCode: 143, stderr: ''});
		expect((await recordsOf(box)).map(({endReason}) => endReason)).toEqual(['released', 'signalled']);
	});

	test('that becomes full does not change the exit code of a job that ends', async () => {
		const box = await boxOnSmallDisk();
		const {wrapper, pid} = await startSleeper(box, ['--gpu-ids', '0']);
		const ballast = fill(box.poolDirectory);
		process.kill(pid, 'SIGTERM');
		const ran = await wrapper.ended;
		expect(ran).toMatchObject({exitCode: 143});
		expect(ran.stderr).toMatch(
			/^canhazgpu: the GPUs could not be released\. They will be .*\. The reason: .*the disk is full\n$/v,
		);
		ballast.free();
		await box.run('status');
		expect(await kindsIn(box)).toEqual(['free', 'free', 'free']);
		expect(await recordsOf(box)).toMatchObject([{gpuId: 0, endReason: 'holder-died'}]);
	});

	test('that is read-only makes commands fail, but loses no data', async () => {
		const box = await boxOnSmallDisk();
		await box.run('reserve --gpu-ids 1 --note kept');
		mount('-o', 'remount,ro', box.poolDirectory);
		for (const command of ['release', 'reserve --nonblock', 'admin --drain 0']) {
			const ran = await box.run(command);
			expect(ran, command).toMatchObject({exitCode: 4, stdout: ''});
			expect(ran.stderr, command).toMatch(
				/^Error: The GPU pool \S+ (?:is read-only for you|cannot be opened|is on a read-only file system)\n.+\n$/v,
			);
		}

		mount('-o', 'remount,rw', box.poolDirectory);
		expect(await box.run('release')).toMatchObject({exitCode: 0, stdout: 'Released 1 GPU(s): [1]\n'});
	});
});
