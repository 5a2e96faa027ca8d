/** Shortens or removes the command lines in the answers of the API. Secrets are masked in any case. */
import type {AuditEntry} from '../../core/model/types.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import type {StatusRow} from '../../core/rules/pool/status.js';
import type {RemoteGpu} from '../../format/hosts/remote-gpu.js';

export type ShownCommands = 'full' | 'short' | 'none';

type Process = {readonly commandLine?: string; readonly name?: string};

const cut = <Cut extends Process>(processes: readonly Cut[], commands: ShownCommands): readonly Cut[] =>
	processes.map((process) => ({
		...process,
		commandLine: undefined,
		name: commands === 'short' ? process.name : undefined,
	}));

export const rowWith = (row: StatusRow, commands: ShownCommands): StatusRow =>
	commands === 'full'
		? row
		: {
				...row,
				// The model was read from a command line.
				model: undefined,
				processes: cut(row.processes, commands),
				squatters: cut(row.squatters, commands),
				left: row.left && {...row.left, processes: cut(row.left.processes, commands)},
			};

/** Replaces a reason that contains quotation marks, because errors quote the command that they are about. */
const reasonWith = (reason: string | undefined): string | undefined =>
	reason?.includes('"') === true ? 'the command could not be started' : reason;

export const jobWith = (job: JobRow, commands: ShownCommands): JobRow =>
	commands === 'full'
		? job
		: {
				...job,
				command: commands === 'short' ? (job.command.split(' ', 1)[0]!.split('/').at(-1) ?? '') : '',
				reason: reasonWith(job.reason),
			};

export const eventWith = (event: AuditEntry, commands: ShownCommands): AuditEntry =>
	commands === 'full' || event.kind !== 'finished' ? event : {...event, reason: reasonWith(event.reason)};

export const remoteWith = (gpu: RemoteGpu, commands: ShownCommands): RemoteGpu =>
	commands === 'full'
		? gpu
		: {
				...gpu,
				model_info: undefined,
				...(commands === 'none' && {process_info: undefined, validation_info: undefined}),
				processes: gpu.processes?.map((process) => ({
					...process,
					command: undefined,
					name: commands === 'short' ? process.name : undefined,
				})),
			};
