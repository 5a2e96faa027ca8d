/** A box of two GPUs whose tool shows every process that claims to use GPU 0. */
import {chmodSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {stubTool} from '../../_helpers/machine/stub-tool.js';
import {fixture} from '../../gpu/fixture.js';

/** Creates a pool, and returns the environment with the tool. */
export async function withUsedGpus(box: Box): Promise<Readonly<Record<string, string>>> {
	const users = path.join(box.home, 'users');
	writeFileSync(users, '');
	chmodSync(users, 0o666);
	const [header, ...rows] = fixture('gpus/two.csv').split('\n');
	const {searchPath} = stubTool(
		box,
		'nvidia-smi',
		String.raw`living() { while read -r pid; do grep -q '^State:.[^XZ]' "/proc/$pid/status" 2>/dev/null && echo "$pid"; done < '${users}'; }
case "$1" in
--query-gpu=*)
	used=4
	[ -z "$(living)" ] || used=8196
	printf '%s\n' '${header}' '${rows[0]!.replace(', 4, 0,', ', \'"$used"\', 0,')}' '${rows[1]!.replace(', 19818, 97,', ', 4, 0,')}'
	exit 0;;
--query-compute-apps=*)
	echo 'gpu_uuid, pid, used_gpu_memory [MiB]'
	for pid in $(living); do echo "GPU-0a0a0a0a-1111-2222-3333-000000000000, $pid, 8192"; done
	exit 0;;
esac
exit 2`,
	);
	expect(await box.run('admin --force --gpus 2 --provider nvidia', {PATH: searchPath})).toMatchObject({exitCode: 0});
	return {PATH: searchPath};
}

export function endProcess(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// The process has already ended.
	}
}
