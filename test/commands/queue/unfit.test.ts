/** Details that a scan of NVIDIA GPUs reads: the kernel log, MIG instances, and actions that the driver recommends. */
import {expect, onTestFinished, test} from 'vitest';
import {createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {stubTool, type StubTool} from '../../_helpers/machine/stub-tool.js';
import {slowTest} from '../../_helpers/slow.js';

const redis = redisOfFile();

const table = (mode: string) => `index, uuid, pci.bus_id, memory.total, memory.used, mig.mode.current
0, GPU-0, 00000000:02:00.0, 81559, 4, ${mode}
1, GPU-1, 00000000:03:00.0, 81559, 4, Disabled`;

const xml = `<?xml version="1.0" ?><nvidia_smi_log><driver_version>550.54</driver_version>
<gpu id="00000000:02:00.0"><uuid>GPU-0</uuid><gpu_recovery_action>None</gpu_recovery_action>
<mig_mode><current_mig>Enabled</current_mig></mig_mode><mig_devices>
<mig_device><index>0</index><gpu_instance_id>1</gpu_instance_id><fb_memory_usage><total>40448 MiB</total><used>12 MiB</used></fb_memory_usage></mig_device>
</mig_devices></gpu>
<gpu id="00000000:03:00.0"><uuid>GPU-1</uuid><gpu_recovery_action>Drain and Reset</gpu_recovery_action></gpu></nvidia_smi_log>`;

const listing = `GPU 0: NVIDIA H100 (UUID: GPU-0)
  MIG 3g.40gb     Device  0: (UUID: MIG-a)`;

const print = (text: string) => `cat <<'END'\n${text}\nEND\n`;

async function createMachine({mode = 'Disabled', log = ''} = {}): Promise<{
	readonly box: Box;
	readonly environment: Readonly<Record<string, string>>;
	readonly smi: StubTool;
}> {
	const box = await createRedisBox(redis.port);
	onTestFinished(box.remove);
	stubTool(box, 'dmesg', log === '' ? 'echo "dmesg: Operation not permitted" >&2; exit 1' : print(log));
	stubTool(box, 'journalctl', 'exit 1');
	const smi = stubTool(
		box,
		'nvidia-smi',
		`case "$1" in --query-gpu*) ${print(table(mode))};; -q) ${print(xml)};; -L) ${print(listing)};; *) echo "gpu_uuid, pid, used_memory, process_name";; esac`,
	);
	const environment = {PATH: smi.searchPath};
	await box.run('admin --gpus 2 --provider nvidia --force', environment);
	return {box, environment, smi};
}

test('reserve grants a GPU with an Xid error in the kernel log only with --force', async () => {
	const {box, environment} = await createMachine({
		log: "[    1.000000] NVRM: Xid (PCI:0000:03:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
	});
	const {stdout} = await box.run('status', environment);
	expect(stdout).toMatch(/1 +│ ✗ ERROR .*Xid 79: GPU has fallen off the bus/v);
	expect(await box.run('reserve --gpu-ids 1 --nonblock', environment)).toMatchObject({
		exitCode: 3,
		stderr: expect.stringContaining('Xid 79') as string,
	});
	expect(await box.run('reserve --gpu-ids 1 --nonblock --force', environment)).toMatchObject({exitCode: 0});
	expect(await box.run('reserve --gpus 1 --nonblock', environment)).toMatchObject({exitCode: 0});
});

slowTest('a scan reads MIG instances only if a GPU is in MIG mode and the command needs instances', async () => {
	const {box, environment, smi} = await createMachine({mode: 'Enabled'});
	const {stdout} = await box.run('status', environment);
	expect(stdout).toMatch(/0 +│ ● AVAILABLE .*, MIG 3g\.40gb/v);
	const rows = JSON.parse((await box.run('status --json', environment)).stdout) as ReadonlyArray<
		Record<string, unknown>
	>;
	expect(rows[0]?.['mig_instances']).toEqual([
		{instance: 0, profile: '3g.40gb', gpu_instance_id: 1, uuid: 'MIG-a', memory_used_mb: 12, memory_total_mb: 40_448},
	]);
	expect(rows[1]).not.toHaveProperty('mig_instances');
	const before = smi.calls().length;
	expect(await box.run('reserve --gpu-ids 0 --nonblock', environment)).toMatchObject({
		exitCode: 2,
		stderr: 'Error: GPU 0 is split by MIG, so it cannot be reserved whole\nSee its instances: canhazgpu status\n',
	});
	expect(smi.calls().slice(before)).toHaveLength(2);
	expect((await box.run('reserve --gpu-ids 0:0 --nonblock --short', environment)).stdout).toBe('MIG-a\n');
	expect(smi.calls().slice(before)).toHaveLength(6);
});

slowTest('doctor reports the recovery action of a GPU', async () => {
	const {box, environment, smi} = await createMachine();
	const {stdout, exitCode} = await box.run('doctor', environment);
	expect(stdout).toContain('✗ gpus        GPU 1: The driver recommends: Drain and Reset\n');
	expect(exitCode).toBe(1);
	const before = smi.calls().length;
	await box.run('status', environment);
	expect(
		smi
			.calls()
			.slice(before)
			.map((call) => call.split('=', 1)[0]),
	).toEqual(expect.arrayContaining(['--query-gpu', '--query-compute-apps']));
	expect(smi.calls().slice(before)).toHaveLength(2);
});
