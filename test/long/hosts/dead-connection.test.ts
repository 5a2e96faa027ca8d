/** A host whose network disappears silently, through real OpenSSH: every command ends with a clear error that names the host. */
import path from 'node:path';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {canHaveNetwork, createNetwork, type Network} from '../../_helpers/machine/network.js';
import {startSshServers, type SshServers} from '../../_helpers/machine/ssh-server.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {peek, start} from '../../_helpers/program/processes.js';

describe.runIf(canHaveNetwork())('when the network to another host disappears', () => {
	let here: Box;
	let far: Box;
	let network: Network;
	let servers: SshServers;
	let environment: Record<string, string>;

	beforeAll(async () => {
		here = await createEmbeddedBox(1);
		far = await createEmbeddedBox(3);
		network = createNetwork();
		servers = await startSshServers(path.join(here.home, 'ssh'), {far}, network);
		environment = {PATH: `${servers.directory}:${here.environment['PATH']!}`};
	});

	afterEach(async () => {
		await network.mend();
	});

	afterAll(async () => {
		await servers.stopAll();
		network.remove();
		for (const box of [here, far]) {
			box.remove();
		}
	});

	const secondsSince = (beganMs: number): number => (performance.now() - beganMs) / 1000;
	const lost = 'canhazgpu: the connection to far was lost';

	test('run --on in a terminal exits with 255 and prints that the connection ended', async () => {
		const terminal = openTerminal(
			starter,
			[...starterText, 'run', '--on', 'far', '--', 'sh', '-c', 'echo begun; exec sleep 600'],
			{columns: 100, rows: 24, cwd: here.home, environment: {...here.environment, ...environment}},
		);
		await terminal.waitFor('begun');
		network.cut();
		expect(await terminal.exit).toMatchObject({exitCode: 255});
		expect(terminal.screen().join('\n')).toContain('Timeout, server');
		expect(terminal.screen().join('\n')).toContain('canhazgpu: far was not reached, the connection ended');
		await terminal.close();
	});

	test('run --on and reserve --on end within 30 s and report the lost connection', async () => {
		const job = start(
			here,
			['run', '--on', 'far', '-g', '2', '--', 'sh', '-c', 'echo begun >&2; exec sleep 600'],
			environment,
		);
		await job.says(/begun/v);
		const waiter = start(here, 'reserve --on far -g 2', environment);
		await eventually(async () => (await peek(far)).queue.length === 1);
		network.cut();
		const beganMs = performance.now();
		const [ranJob, ranWaiter] = await Promise.all([job.ended, waiter.ended]);
		expect(secondsSince(beganMs)).toBeLessThan(30);
		// The sshd there has not noticed the cut, so the job continues.
		expect((await peek(far)).gpus.filter(({kind}) => kind === 'leased').length).toBeGreaterThanOrEqual(2);
		for (const {exitCode, stderr} of [ranJob, ranWaiter]) {
			expect(exitCode).toBe(255);
			expect(stderr).toMatch(/Timeout, server \S+ not responding\./v);
			expect(stderr).toContain(lost);
		}
	});

	test.each([
		'reserve --on far --nonblock',
		'run --on far --nonblock -- true',
		'release --on far',
		'status --remote far',
	])('%s fails within seconds', async (words) => {
		network.cut();
		const beganMs = performance.now();
		const {exitCode, stdout, stderr} = await here.run(words, environment);
		expect(secondsSince(beganMs)).toBeLessThan(15);
		expect([exitCode === 0, stdout]).toEqual([false, '']);
		expect(stderr).toContain('far');
		expect(stderr).toMatch(/timed out|No route to host|no answer within/v);
	});
});
