import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {stubTool} from '../../_helpers/machine/stub-tool.js';
import {createBox, type Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';
import {askSocket, createRuntimeDirectory, signIn, startMine} from './_mine.js';

/** Two A100 and two L40S, linked in pairs. */
const mixed = `hardware:
  - {gpus: [0, 1], model: NVIDIA A100-SXM4-80GB, memory: 81920, compute: "8.0", numa: 0}
  - {gpus: [2, 3], model: NVIDIA L40S, memory: 46068, compute: "8.9", numa: 1}
links:
  - {gpus: [0, 1], link: NV12}
`;

const there = 'The pool has 2 A100-SXM4-80GB of 80 GiB (8.0), 2 L40S of 45 GiB (8.9).';

async function start(scenario: string, policy: readonly string[] = []) {
	const box = await freshEmbeddedBox(4);
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, scenario, {mode: 0o600});
	for (const words of policy) {
		await box.run(`admin --set ${words}`);
	}

	return asking(box, {CANHAZGPU_SIMULATED_SCENARIO: file});
}

async function asking(box: Box, environment: Readonly<Record<string, string>>) {
	const runtime = createRuntimeDirectory();
	onTestFinished(runtime.remove);
	const mine = await startMine(box, runtime.directory, environment);
	onTestFinished(async () => {
		await mine.end('SIGKILL');
	});
	const {act} = await signIn(mine);
	const said = async (name: string, request: Readonly<Record<string, unknown>>) => {
		const {status, json} = await act(name, {duration: '1h', ...request});
		const {words, gpus, error, hint} = json();
		return status === 200 ? [words, gpus] : [status, error, hint];
	};

	return {
		said,
		shares: async () =>
			(
				JSON.parse((await askSocket(mine.socketPath, '/api/status')).text) as ReadonlyArray<{
					readonly shares?: ReadonlyArray<{readonly memory_mb?: number; readonly mig_instance?: unknown}>;
				}>
			).map(({shares}) => shares?.map(({memory_mb: size, mig_instance: part}) => size ?? part)),
	};
}

test('web --mine reserves only GPUs that meet the requirements', async () => {
	const {said} = await start(mixed);
	expect(await said('reserve', {count: 1, needs: '40G l40s'})).toEqual(['Reserved GPU 2 for 1h 0m 0s', [2]]);
	expect(await said('reserve', {count: 2, needs: 'nvlink topology'})).toEqual([
		'Reserved GPUs 0,1 for 1h 0m 0s',
		[0, 1],
	]);
	const refused = await said('reserve', {count: 1, needs: 'a100'});
	expect(refused).toEqual([409, expect.stringMatching(/^Not enough GPUs available/v), expect.any(String)]);
	const waiting = await said('join', {count: 1, needs: 'a100'});
	expect(waiting).toEqual([expect.stringMatching(/^Waiting for 1 GPU of model a100: position 1 of 1/v), []]);
	// The waiting request does not delay a request for other GPUs.
	expect(await said('join', {count: 1, needs: '8.9'})).toEqual(['Reserved GPU 3 for 1h 0m 0s', [3]]);
	const wrong: ReadonlyArray<
		readonly [request: Readonly<Record<string, unknown>>, error: string, hint: RegExp | string]
	> = [
		[{needs: '40'}, 'Needs: "40" is unknown, or contradicts another word', /^Use words such as 40G \(memory\)/v],
		[{needs: 'cool pack'}, 'Needs: "pack" is unknown, or contradicts another word', /mru, lru, pack/v],
		[{needs: 'h100'}, 'No GPU of model h100 in this pool', there],
		[{needs: '100G'}, 'No GPU with 100G or more in this pool', there],
		[
			{needs: 'nvlink'},
			'Needs: nvlink is for links between GPUs, but you asked for only one GPU',
			/^Ask for more GPUs/v,
		],
		[
			{count: 3},
			'Cannot reserve 3 GPUs of one model: this pool has at most 2',
			/^The pool has 2 A100.*Different models/v,
		],
		[{needs: '1g.10gb'}, 'No GPU of this pool is split by MIG', /^For whole GPUs, leave out --mig/v],
		[{share: '0'}, 'Share: "0" is not a memory size', /^Write a number and a unit/v],
		[{share: '8'}, 'Share: "8" has no unit', 'Did you mean 8G?'],
		[{share: '8G'}, 'GPUs cannot be shared in this pool', /^An administrator can allow it/v],
	];
	for (const act of ['reserve', 'join']) {
		for (const [request, error, hint] of wrong) {
			expect([request, ...(await said(act, {count: 1, ...request}))]).toEqual([
				request,
				400,
				error,
				typeof hint === 'string' ? hint : expect.stringMatching(hint),
			]);
		}
	}
});

slowTest('web --mine grants a share if the policy allows shares, also on a shared GPU', async () => {
	const {said, shares} = await start(mixed, ['share=on']);
	expect(await said('reserve', {count: 1, share: '8G', needs: 'l40s'})).toEqual([
		'Reserved a share of 8G of GPU 2 for 1h 0m 0s',
		[2],
	]);
	expect(await said('join', {gpus: [2], share: '20G'})).toEqual(['Reserved a share of 20G of GPU 2 for 1h 0m 0s', [2]]);
	expect(await said('reserve', {gpus: [2], share: '30G'})).toEqual([
		409,
		expect.stringMatching(/^Not enough GPUs available/v),
		expect.any(String),
	]);
	expect(await said('reserve', {count: 1, share: '200G'})).toEqual([
		400,
		'No GPU with room for a share of 200G in this pool',
		there,
	]);
	expect(await shares()).toEqual([undefined, undefined, [8192, 20_480], undefined]);
});

test('web --mine grants a MIG instance by its profile', async () => {
	const {said, shares} = await start('mig: [{gpu: 1, profiles: [1g.10gb, 3g.40gb]}]\n', ['share=on']);
	expect(await said('reserve', {count: 1, needs: '1g.10gb'})).toEqual([
		'Reserved 1 MIG instance(s): [1:0] for 1h 0m 0s',
		[1],
	]);
	expect((await shares())[1]).toEqual([expect.objectContaining({instance: 0, profile: '1g.10gb'})]);
	expect(await said('reserve', {count: 1, needs: '9g.99gb'})).toEqual([
		400,
		'No MIG instance of this pool is 9g.99gb or larger',
		'The pool has 1 of 1g.10gb, 1 of 3g.40gb.',
	]);
	expect(await said('reserve', {count: 1, needs: '1g.10gb', share: '8G'})).toEqual([
		400,
		'Share: a MIG instance cannot be shared',
		'Leave out the share or the MIG profile.',
	]);
	expect((await said('reserve', {gpus: [1]}))[1]).toBe('GPU 1 is split by MIG, so it cannot be reserved whole');
});

/** A GPU with two instances that appear only in `-q -x` and `-L`, not in the tables. */
const splitTool = `case "$*" in
*--query-gpu=*) awk -v fields="\${1#--query-gpu=}" 'BEGIN {
	known["index"] = 0; known["uuid"] = "GPU-1"; known["name"] = "NVIDIA H100"; known["pci.bus_id"] = "00000000:02:00.0"
	known["memory.used"] = 20; known["memory.total"] = 81559; known["mig.mode.current"] = known["mig.mode.pending"] = "Enabled"
	count = split(fields, names, ",")
	for (i = 1; i <= count; i++) {
		head = head (i > 1 ? ", " : "") names[i] (names[i] ~ /^memory/ ? " [MiB]" : "")
		row = row (i > 1 ? ", " : "") (names[i] in known ? known[names[i]] : "[N/A]")
	}
	print head; print row
}';;
*--query-compute-apps*) echo "gpu_uuid, pid, used_gpu_memory [MiB]";;
*-L*) echo "GPU 0: NVIDIA H100 (UUID: GPU-1)"; echo "  MIG 1g.10gb     Device  0: (UUID: MIG-a)"; echo "  MIG 3g.40gb     Device  1: (UUID: MIG-b)";;
*) echo '<?xml version="1.0" ?><nvidia_smi_log><gpu id="00000000:02:00.0"><uuid>GPU-1</uuid><mig_mode><current_mig>Enabled</current_mig></mig_mode><mig_devices><mig_device><index>0</index><gpu_instance_id>1</gpu_instance_id><compute_instance_id>0</compute_instance_id></mig_device><mig_device><index>1</index><gpu_instance_id>5</gpu_instance_id><compute_instance_id>0</compute_instance_id></mig_device></mig_devices><processes></processes></gpu></nvidia_smi_log>';;
esac`;

slowTest('web --mine grants a MIG instance even if nvidia-smi reports its details only with -q -x and -L', async () => {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	onTestFinished(box.remove);
	const environment = {PATH: stubTool(box, 'nvidia-smi', splitTool).searchPath};
	expect((await box.run('admin --gpus 1 --provider nvidia', environment)).exitCode).toBe(0);
	const {said} = await asking(box, environment);
	expect(await said('reserve', {count: 1, needs: '3g.40gb'})).toEqual([
		'Reserved 1 MIG instance(s): [0:1] for 1h 0m 0s',
		[0],
	]);
});
