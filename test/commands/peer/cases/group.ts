/** A case is one input with the result of the Go program and of this program. */
import {understand} from '../../../../source/main.js';
import {checkLabel} from '../../../../source/commands/shared/flag-values.js';
import {commandOf} from '../../../../source/commands/run.js';
import {countOf, waitSecondsOf} from '../../../../source/commands/shared/request-flags.js';
import {formOf} from '../../../../source/commands/status/status.js';
import {checkWanted} from '../../../../source/core/rules/request/request.js';

export type Case = readonly [input: string, theirs: unknown, ours: unknown];

/** The source of an input: tables of the Go program's tests, its source and documentation, or our own. */
export type Origin = 'its tests' | 'its source' | 'further inputs';

/** The rows of the first comparison of both programs, with the number of inputs of each. */
export const rows = {
	ParseDuration: 10,
	'durations, more inputs': 37,
	FormatDuration: 5,
	'FormatTimeAgo, FormatTimeUntil': 6,
	'FormatUserList, FormatProcessList': 7,
	FlexibleTime: 21,
	'FlexibleTime, more inputs': 64,
	'AllocationRequest.Validate': 12,
	'runRun, zero count': 1,
	validateRunCommand: 18,
	'AtomicReserve*, MixedMode': 11,
	'MRU concept': 3,
	'allocation order, random pools': 60,
	ReleaseSpecificGPUs: 6,
	Queue: 7,
	'Usage history': 7,
	'Provider back-compat': 5,
	thresholds: 5,
	'AMD JSON': 8,
	'Fake provider': 6,
	'status table': 3,
	'structure, constants': 10,
	'heartbeat loss': 2,
	'model detection': 64,
	'parse forms of flags': 64,
} as const;

export type Row = keyof typeof rows;

export type Group = {
	readonly name: string;
	readonly origin: Origin;
	/** The row of {@link rows}. Absent for new groups. */
	readonly row?: Row;
	readonly cases: () => readonly Case[] | Promise<readonly Case[]>;
	/** Input -> reason for the difference. */
	readonly differences?: Readonly<Record<string, string>>;
	/** Inputs that only this program accepts. No script can depend on their refusal. */
	readonly understoodHere?: readonly string[];
};

export const refused = 'refused';

export function orRefused<Value>(read: () => Value): Value | typeof refused {
	try {
		return read();
	} catch {
		return refused;
	}
}

/** Compares each field of the Go program's output or record with ours, including absent fields. */
export const fieldCases = (
	what: string,
	theirs: Readonly<Record<string, unknown>>,
	ours: Readonly<Record<string, unknown>>,
): readonly Case[] => Object.entries(theirs).map(([key, value]) => [`${what}: ${key}`, value, ours[key]]);

/** Whether a line is accepted up to the point where a pool would be opened. */
export async function lineCase(line: string | readonly string[], theirs: 'ok' | typeof refused): Promise<Case> {
	const words = typeof line === 'string' ? line.split(' ') : line;
	let ours = 'ok';
	try {
		const understood = await understand(words);
		// These are the first checks of the commands.
		if ('command' in understood) {
			const {command, input} = understood;
			if (command.name === 'run' || command.name === 'reserve') {
				const ids = input.text('gpu-ids')?.split(',').map(Number);
				checkWanted({count: countOf(input, `${command.name}.gpus`, ids), ids}, 8);
				waitSecondsOf(input, command.name);
				checkLabel(input.config.get(`${command.name}.user`));
				if (command.name === 'run') {
					commandOf(input);
				}
			} else if (command.name === 'status') {
				formOf(input);
			}
		}
	} catch {
		ours = refused;
	}

	return [words.join(' '), theirs, ours];
}

export const lines = async (
	accepted: ReadonlyArray<string | readonly string[]>,
	wrong: ReadonlyArray<string | readonly string[]> = [],
): Promise<readonly Case[]> =>
	Promise.all([
		...accepted.map(async (line) => lineCase(line, 'ok')),
		...wrong.map(async (line) => lineCase(line, refused)),
	]);
