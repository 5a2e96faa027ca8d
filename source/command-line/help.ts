/** The help, built from what the commands declare. */
import {commands} from '../commands/index.js';
import {topics} from '../help/topics.js';
import type {Command, Flags} from './command.js';
import {globalFlags} from './flags.js';

const columns = (rows: ReadonlyArray<readonly [left: string, right: string]>): string => {
	const width = Math.max(...rows.map(([left]) => left.length));
	return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n');
};

const valueText = (value: string | undefined, bare: string | undefined): string =>
	value === undefined ? '' : bare === undefined ? ` ${value}` : `[=${value}]`;

const flagRows = (flags: Flags): ReadonlyArray<readonly [string, string]> =>
	Object.entries(flags).map(([name, {short, value, bare, summary}]) => [
		`${short === undefined ? ' '.repeat(4) : `-${short}, `}--${name}${valueText(value, bare)}`,
		summary,
	]);

/** `canhazgpu --help`. */
export async function mainHelp(): Promise<string> {
	const all = await Promise.all(Object.values(commands).map(async (load) => load()));
	return [
		'canhazgpu: share the GPUs of one machine without stepping on each other.',
		'',
		'Usage: canhazgpu VERB [flags]      (chg is short for canhazgpu)',
		'',
		columns(all.map(({name, summary}) => [name, summary])),
		'',
		'Topics to read, without a network:',
		columns(Object.entries(topics).map(([name, {summary}]) => [name, summary])),
		'',
		'Flags of every verb:',
		columns(flagRows(globalFlags)),
		'',
		'More on one verb: canhazgpu VERB --help',
		'A topic:          canhazgpu help TOPIC',
		'To look around:   canhazgpu top --demo',
		'',
		'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool;',
		"of run: the command's own, 124 when its time was over.",
	].join('\n');
}

/** `canhazgpu VERB --help`. */
export const commandHelp = (command: Command): string =>
	[
		`${command.summary}.`,
		'',
		`Usage: canhazgpu ${command.name} ${command.usage}`.trimEnd(),
		'',
		...(Object.keys(command.flags).length === 0 ? [] : [columns(flagRows(command.flags)), '']),
		...(command.notes === undefined ? [] : [...command.notes, '']),
		'Flags of every verb:',
		columns(flagRows(globalFlags)),
		'',
		'Examples:',
		columns(command.examples),
	].join('\n');
