/** What can be done with a GPU in a shell, by its state. Pure. */
import type {Gpu} from '../fields.js';

export type ShellCommand = {
	/** What it does, such as `Give it back`. */
	readonly does: string;
	readonly command: string;
};

function commandsOf({gpu_id: index, state, reservation_type: kind, processes, shares}: Gpu): readonly ShellCommand[] {
	const reserve = {does: 'Reserve it', command: `canhazgpu reserve --gpu-ids ${index}`};
	switch (state) {
		case 'available': {
			return [reserve, {does: 'Run something on it', command: `canhazgpu run --gpu-ids ${index} -- python train.py`}];
		}

		case 'in-use': {
			return [
				...(kind === 'run' || shares !== undefined
					? []
					: [{does: 'Keep it longer', command: `canhazgpu extend --gpu-ids ${index} --duration 2h`}]),
				{does: 'Give it back', command: `canhazgpu release --gpu-ids ${index}`},
				{...reserve, does: 'Wait for it in the queue'},
			];
		}

		case 'unreserved': {
			const pid = processes?.[0]?.pid;
			return pid === undefined
				? []
				: [{does: 'Reserve it for the process on it, if it is yours', command: `canhazgpu reserve --pid ${pid}`}];
		}

		case 'drained': {
			return [{does: 'Put it back into service', command: `canhazgpu admin --undrain ${index}`}];
		}

		case 'error': {
			return [{does: 'Find out what is wrong', command: 'canhazgpu doctor'}];
		}
	}
}

const sshWord = (host: string): string =>
	/^[\w\-.]+$/v.test(host) ? host : `'${host.replaceAll("'", String.raw`'\''`)}'`;

/** @param host - The box, for commands that are typed on another machine; undefined for those that are typed on it. */
export const shellCommands = (gpu: Gpu, host?: string): readonly ShellCommand[] =>
	[...commandsOf(gpu), {does: 'See who uses it', command: `canhazgpu who ${gpu.gpu_id}`}].map(({does, command}) => ({
		does,
		// A terminal, so that what waits can be seen and stopped.
		command: host === undefined ? command : `ssh -t ${sshWord(host)} ${command}`,
	}));
