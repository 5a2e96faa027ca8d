/** Slurm's batch flags with a local pool. */
import {afterAll, expect, test} from 'vitest';
import {createBox} from '../../_helpers/program/cli.js';

const box = createBox();

afterAll(() => {
	box.remove();
});

test.each([
	['--detach', 'nohup canhazgpu run'],
	['--after 17', 'canhazgpu run -- sh -c'],
	['--begin 2h', 'sleep 2h'],
	['--array 0-3', 'for i in'],
])('run %s without Slurm is refused and suggests "%s" instead', async (flag, way) => {
	expect((await box.run('admin -g 2 --provider fake --store embedded --force')).exitCode).toBe(0);
	const {exitCode, stdout, stderr} = await box.run(`run ${flag} -- echo ran`);
	expect([exitCode, stdout]).toEqual([2, '']);
	expect(stderr).toMatch(
		/^Error: --\w+ needs Slurm\. Without Slurm, a job exists only while its canhazgpu command runs\n.+\n$/v,
	);
	expect(stderr).toContain(way);
});
