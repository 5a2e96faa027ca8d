/** The line above the footer. Shows the latest message, a problem that lasts, or the text that is being typed. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {counted} from '../../format/text/numbers.js';
import {widthOf} from '../../format/text/width.js';
import type {HostLine} from '../state/hosts/lines.js';
import {hostTable} from '../state/hosts/rows.js';
import {remembering} from '../state/memo.js';
import {matchCount} from '../state/search.js';
import {standingMessage, type Message} from '../state/standing-message.js';
import type {State} from '../state/state.js';
import {focusedTable, promptOf} from '../state/table/tables.js';
import type {TextField} from '../state/text-field.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import type {Tone} from '../themes/tones.js';
import {Hint} from '../widgets/hint.js';
import {Label} from '../widgets/label.js';
import {TextInput} from '../widgets/text-input.js';

const words: Readonly<Record<Message['level'], readonly [word: string, tone: Tone]>> = {
	ok: ['OK', 'success'],
	warning: ['WARN', 'warning'],
	error: ['ERR', 'error'],
	waiting: ['WAIT', 'mine'],
};

/** Returns the message. Cached, because it changes only when the state changes. */
const messageOf = remembering(
	(state: State) => [state],
	(state): Message | undefined => state.flash ?? standingMessage(state),
);

/** Returns how many rows match the filter, such as `3 of 8 GPUs`. In the host table, only GPUs are counted. */
function filterCount(state: State): string {
	const table = focusedTable(state);
	const isCounted = (row: unknown): boolean => table !== hostTable || (row as HostLine).kind === 'gpu';
	const count = (rows: readonly unknown[]): number => rows.filter((row) => isCounted(row)).length;
	const [noun, plural] = table === hostTable ? ['GPU'] : [table.noun, table.plural];
	return `${count(table.filtered(state))} of ${counted(count(table.all(state)), noun, plural)}`;
}

type PromptProperties = {
	readonly label: string;
	readonly field: TextField;
	readonly count?: string;
	/** Why the text cannot match anything. Shown in place of the number of matches. */
	readonly problem?: string;
};

/** Shows the text that is being typed. At the right, shows how many rows match. */
function Prompt({label, field, count, problem}: PromptProperties): ReactElement {
	const {columns} = useMonitor(({size}) => size);
	const end = problem ?? count ?? '';
	return (
		<Box height={1} paddingX={1} justifyContent="space-between" flexShrink={0}>
			<Box gap={label === ':' ? 0 : 1}>
				<Label tone="key">{label}</Label>
				<TextInput field={field} width={Math.max(8, columns - widthOf(end) - label.length - 4)} />
			</Box>
			<Label tone={problem === undefined ? 'dim' : 'warning'}>{end}</Label>
		</Box>
	);
}

/** Returns for how many seconds the key `z` can still undo a release. 0 while a dialog is open, which would take the key. */
const undoSeconds = ({undo, dialog, nowMs}: State): number =>
	undo === undefined || dialog !== undefined ? 0 : Math.max(0, Math.ceil((undo.untilMs - nowMs) / 1000));

/** Shows the hint `z Undo release (8s)` for as long as a release can be undone. */
function Undo(): ReactElement | undefined {
	const {isLinear} = useSettings();
	const seconds = useMonitor(undoSeconds);
	// A screen reader would read a countdown aloud every second.
	return seconds > 0 ? (
		<Box flexShrink={0}>
			<Hint name="z" word={isLinear ? 'Undo release' : `Undo release (${seconds}s)`} />
		</Box>
	) : undefined;
}

/** Shows the shell command that has the same effect as the last action, or the command that should come next. */
const ShellCommand = ({children}: {readonly children: string}): ReactElement => (
	<Label>
		<Label tone="dim">$ </Label>
		<Label tone="key">{children}</Label>
	</Label>
);

/** Width of `z Undo release (10s)` with the blanks before it, in terminal columns. */
const undoColumns = 22;

function MessageText({level, text, command, next}: Message): ReactElement {
	const {columns} = useMonitor(({size}) => size);
	const undoWidth = useMonitor((state) => (undoSeconds(state) === 0 ? 0 : undoColumns));
	const isBehindDialog = useMonitor(({dialog}) => dialog !== undefined);
	const [word, tone] = words[level];
	const isWide = (...shell: ReadonlyArray<string | undefined>): boolean => {
		const parts = [`${word} ${text}`, ...shell.filter((line) => line !== undefined).map((line) => `$ ${line}`)];
		return widthOf(parts.join('  ')) + undoWidth + 2 > columns;
	};

	// If there is not enough room, the commands are left out, not the message. The key `v` shows all of them.
	const isCut = isWide(next);
	const shown = isCut ? [] : isWide(next, command) ? [next] : [next, command];
	return (
		<>
			<Box minWidth={24}>
				<Label>
					<Label tone={tone}>{word}</Label> {text}
				</Label>
			</Box>
			{shown.every((line) => line === undefined) ? undefined : (
				<Box gap={2} flexShrink={0}>
					{shown.map((line, index) => line !== undefined && <ShellCommand key={index}>{line}</ShellCommand>)}
				</Box>
			)}
			{isCut && !isBehindDialog ? (
				<Box flexShrink={0}>
					<Hint name="v" word="Whole" />
				</Box>
			) : undefined}
		</>
	);
}

export function MessageLine(): ReactElement {
	const search = useMonitor((state) => state.search.prompt);
	const filter = useMonitor(promptOf);
	const count = useMonitor((state) =>
		state.search.prompt === undefined ? promptOf(state) && filterCount(state) : counted(matchCount(state), 'row'),
	);
	const problem = useMonitor((state) =>
		focusedTable(state).problemIn(state, (state.search.prompt ?? promptOf(state)?.field)?.value ?? ''),
	);
	const dialog = useMonitor((state) => state.dialog);
	const message = useMonitor(messageOf);
	if (search !== undefined) {
		return <Prompt label="Search" field={search} count={count} problem={problem} />;
	}

	if (filter !== undefined) {
		return <Prompt label="Filter" field={filter.field} count={count} problem={problem} />;
	}

	if (dialog?.kind === 'command') {
		return <Prompt label=":" field={dialog.field} />;
	}

	return (
		<Box height={1} paddingX={1} gap={2} justifyContent="space-between" flexShrink={0} overflow="hidden">
			{message === undefined ? <Box /> : <MessageText {...message} />}
			<Undo />
		</Box>
	);
}
