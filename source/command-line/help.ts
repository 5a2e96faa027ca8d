import {commands} from '../commands/index.js';
import {columnsOf} from '../format/text/output-columns.js';
import {wrap} from '../format/text/width.js';
import {topics} from '../help/topics.js';
import type {Command, Flags} from './command.js';
import {flagRows, globalFlags} from './flags.js';

/** The largest width of a help text, because longer lines are tiring to read. */
const widest = 100;

const narrowest = 20;

/** The width of a help text that is written to a file or a pipe. */
const usualColumns = 80;

export const columnsFor = (...place: Parameters<typeof columnsOf>): number =>
	Math.min(widest, Math.max(narrowest, columnsOf(...place) ?? usualColumns));

const wrapped = (text: string, columns: number): readonly string[] => wrap(text, columns, Infinity);

/** The smallest width of a column of descriptions. If less room is left beside a name, the description starts on the next line. */
const leastRoom = 30;

type Rows = ReadonlyArray<readonly [left: string, right: string]>;

function table(rows: Rows, columns: number): string {
	const width = Math.max(...rows.map(([left]) => left.length));
	const room = columns - width - 4;
	const isBeside = room >= leastRoom || rows.every(([, right]) => right.length <= room);
	return rows
		.flatMap(([left, right]) =>
			isBeside
				? wrapped(right, room).map((line, index) => `  ${(index === 0 ? left : '').padEnd(width)}  ${line}`)
				: [`  ${left}`, ...wrapped(right, columns - 10).map((line) => `${' '.repeat(10)}${line}`)],
		)
		.join('\n');
}

/** Wraps a usage line, but never inside brackets. Further lines are indented to align with the first word after `Usage:`. */
function usageText(typed: string, columns: number): string {
	const begin = 'Usage: ';
	const whole = typed.replaceAll(/\[[^\[\]]*\]|\([^\(\)]*\)/gv, (group) => group.replaceAll(' ', '\u{A0}'));
	return wrapped(whole, columns - begin.length)
		.map((line, index) => (index === 0 ? begin : ' '.repeat(begin.length)) + line.replaceAll('\u{A0}', ' '))
		.join('\n');
}

const paragraph = (text: string, columns: number): string => wrapped(text, columns).join('\n');

export async function mainHelp(columns: number): Promise<string> {
	const all = await Promise.all(Object.values(commands).map(async (load) => load()));
	return [
		paragraph('canhazgpu: share the GPUs of one machine without stepping on each other.', columns),
		'',
		usageText('canhazgpu COMMAND [flags]      (chg is short for canhazgpu)', columns),
		'',
		table(
			all.map(({name, summary}) => [name, summary]),
			columns,
		),
		'',
		'Help topics:',
		table(
			Object.entries(topics).map(([name, {summary}]) => [name, summary]),
			columns,
		),
		'',
		'Flags of every command:',
		table(flagRows(globalFlags), columns),
		'',
		'Help for a command: canhazgpu COMMAND --help',
		'Help for a topic:   canhazgpu help TOPIC',
		'Try the monitor:    canhazgpu top --demo',
		'',
		paragraph(
			'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool. run exits with the code of its command, or with 124 after --timeout.',
			columns,
		),
	].join('\n');
}

const withoutOwn = (flags: Flags): Flags =>
	Object.fromEntries(Object.entries(globalFlags).filter(([name]) => !Object.hasOwn(flags, name)));

export const commandHelp = ({name, summary, usage, flags, notes = [], examples}: Command, columns: number): string =>
	[
		paragraph(`${summary}.`, columns),
		'',
		usageText(`canhazgpu ${name} ${usage}`, columns),
		'',
		...(Object.keys(flags).length === 0 ? [] : [table(flagRows(flags), columns), '']),
		...(notes.length === 0 ? [] : [...notes.map((note) => paragraph(note, columns)), '']),
		'Flags of every command:',
		table(flagRows(withoutOwn(flags)), columns),
		'',
		'Examples:',
		table(examples, columns),
	].join('\n');
