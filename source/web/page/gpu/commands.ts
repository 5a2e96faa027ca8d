import {shellQuote} from '../../../format/text/shell.js';
import type {Gpu} from '../fields.js';

type ShellCommand = {
	readonly does: string;
	readonly command: string;
};

const releaseOwn = (index: number): ShellCommand => ({
	does: 'Release your part of this GPU',
	command: `canhazgpu release --gpu-ids ${index}`,
});

/** Returns the commands for a GPU that is split by MIG. Only the instances of such a GPU can be reserved. */
function splitCommandsOf({gpu_id: index, mig_instances: parts = [], shares = []}: Gpu): readonly ShellCommand[] {
	const held = new Set(shares.map(({mig_instance: mig}) => mig?.instance));
	const numbers = parts.flatMap(({instance}) => instance ?? []);
	const free = numbers.find((number) => !held.has(number));
	const named = free ?? numbers[0];
	return [
		...(shares.length > 0 ? [releaseOwn(index)] : []),
		...(named === undefined
			? []
			: [
					{
						does:
							free === undefined
								? 'Wait in the queue for a MIG instance of this GPU'
								: 'Reserve a MIG instance of this GPU',
						command: `canhazgpu reserve --gpu-ids ${index}:${named}`,
					},
				]),
		...(free === undefined
			? []
			: [{does: 'Run a program on it', command: `canhazgpu run --gpu-ids ${index}:${free} -- python train.py`}]),
	];
}

/** Maximum size of the suggested share, in GiB. */
const usualShare = 8;

/** Returns the commands for a shared GPU. Another share can be reserved if memory is left. The command for the whole GPU waits. */
function sharedCommandsOf({gpu_id: index, shares = [], share_capacity_mb: capacity}: Gpu): readonly ShellCommand[] {
	const inGib = (mebibytes: number): number => Math.floor(mebibytes / 1024);
	const asked = shares.reduce((sum, {memory_mb: memory = 0}) => sum + memory, 0);
	const left = capacity === undefined ? 0 : inGib(capacity - asked);
	const most = left > 0 ? left : capacity === undefined ? usualShare : Math.max(1, inGib(capacity));
	return [
		releaseOwn(index),
		{
			does: left > 0 ? 'Reserve a share of the memory that is left' : 'Wait in the queue for a share of this GPU',
			command: `canhazgpu reserve --gpu-ids ${index} --share ${Math.min(most, usualShare)}G`,
		},
		{does: 'Wait in the queue for the whole GPU', command: `canhazgpu reserve --gpu-ids ${index}`},
	];
}

function commandsOf(gpu: Gpu): readonly ShellCommand[] {
	const {gpu_id: index, state, held_for_queue: waiter, processes, shares, mig_instances: parts} = gpu;
	const reserve = {does: 'Reserve this GPU', command: `canhazgpu reserve --gpu-ids ${index}`};
	if (waiter !== undefined) {
		return [
			{does: 'Leave the queue, if this GPU is held for you', command: `canhazgpu queue --leave ${shellQuote(waiter)}`},
			{...reserve, does: 'Wait in the queue for this GPU'},
		];
	}

	if (parts !== undefined && (state === 'available' || state === 'in-use')) {
		return splitCommandsOf(gpu);
	}

	if (shares !== undefined && state === 'in-use') {
		return sharedCommandsOf(gpu);
	}

	switch (state) {
		case 'available': {
			return [reserve, {does: 'Run a program on it', command: `canhazgpu run --gpu-ids ${index} -- python train.py`}];
		}

		case 'in-use': {
			return [
				...(gpu.reservation_type === 'run'
					? []
					: [{does: 'Extend your reservation', command: `canhazgpu extend --gpu-ids ${index} --duration 2h`}]),
				{does: 'Release it', command: `canhazgpu release --gpu-ids ${index}`},
				{...reserve, does: 'Wait in the queue for this GPU'},
			];
		}

		case 'unreserved': {
			const pid = processes?.[0]?.pid;
			return pid === undefined
				? []
				: [
						{
							does: 'If the process on it is yours, reserve the GPU for that process',
							command: `canhazgpu reserve --pid ${pid}`,
						},
					];
		}

		case 'drained': {
			return [{does: 'Put it back into service', command: `canhazgpu admin --undrain ${index}`}];
		}

		case 'error': {
			return [{does: 'Find out what is wrong', command: 'canhazgpu doctor'}];
		}
	}
}

/** Returns the commands for a GPU of a Slurm node. Slurm chooses the GPUs of a node itself, and can only end whole jobs. */
function slurmCommandsOf({state, lease_id: job}: Gpu, node: string): readonly ShellCommand[] {
	switch (state) {
		case 'available':
		case 'unreserved': {
			return [
				{does: 'Reserve a GPU of this node', command: `canhazgpu reserve --gpus 1 --on ${node}`},
				{
					does: 'Run a program on a GPU of this node',
					command: `canhazgpu run --gpus 1 --on ${node} -- python train.py`,
				},
			];
		}

		case 'in-use': {
			return [
				...(job === undefined
					? []
					: [
							{does: 'Release it, which ends the whole job', command: `canhazgpu release --lease ${shellQuote(job)}`},
							{does: 'Show the job', command: `scontrol show job ${shellQuote(job)}`},
						]),
				{does: 'Wait for a GPU of this node', command: `canhazgpu reserve --gpus 1 --on ${node}`},
			];
		}

		case 'drained': {
			return [{does: 'Put the node back into service', command: `scontrol update NodeName=${node} State=RESUME`}];
		}

		case 'error': {
			return [{does: 'Find out what is wrong', command: `scontrol show node ${node}`}];
		}
	}
}

/**
Returns a command that runs on a host. `ssh -t` provides a terminal, on which the user can see and stop a command that waits. A command with quotes is
quoted again, because the shell of the host reads it too.
*/
const sshCommand = (host: string, command: string): string =>
	`ssh -t ${shellQuote(host)} ${command.includes("'") ? shellQuote(command) : command}`;

/** Returns the commands for a GPU. If `host` is set, each command connects to that host by ssh. */
export const shellCommands = (gpu: Gpu, host?: string): readonly ShellCommand[] =>
	(gpu.node === undefined
		? [...commandsOf(gpu), {does: 'Show who uses it', command: `canhazgpu who ${gpu.gpu_id}`}]
		: slurmCommandsOf(gpu, shellQuote(gpu.node))
	).map(({does, command}) => ({
		does,
		command: host === undefined ? command : sshCommand(host, command),
	}));
