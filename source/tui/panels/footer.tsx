/** The last line of the screen, with hints for the keys that have an effect now. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {widthOf} from '../../format/text/width.js';
import {bindingsWith} from '../keys/custom.js';
import type {Binding} from '../keys/bindings.js';
import {KeyButton} from '../mouse/clickable.js';
import {isAsking} from '../state/dialogs.js';
import {modeOf} from '../state/modes.js';
import {keepingEqual, remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import {isFiltered} from '../state/table/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {commandOf} from '../commands/index.js';
import {Hint} from '../widgets/hint.js';
import {Label} from '../widgets/label.js';

type ShownHint = {
	readonly name: string;
	readonly word: string;
	readonly isDisabled: boolean;
	/** The name of the key that a click on the hint presses. */
	readonly pressed: string;
	/** The rank of the hint. If there is not enough room, hints with the largest ranks are left out first. */
	readonly soon: number;
};

/** Rank of actions on the selected row. This rank is the smallest, so these hints are left out last. */
const leastSoon = -1;
/** A number that is added to the rank of a disabled hint. */
const disabledPart = 0.5;
const margin = 1;
const gap = 2;

function hintOf({footer, intent, modes, keys}: Binding, state: State): ShownHint {
	const [name, usual, soon = 0] = footer!;
	const command = typeof intent === 'object' ? intent : undefined;
	const {dialog} = state;
	const isForm = intent === 'submit' && modes.includes('form') && dialog?.kind === 'form';
	const submitWord = isForm ? commandOf(dialog).submitWord?.(dialog) : undefined;
	const ownWord = command?.footerWord?.(state);
	const isDisabled = command?.reasonAgainst(state) !== undefined;
	return {
		name,
		word: ownWord ?? submitWord ?? usual,
		isDisabled,
		pressed: keys[0]!,
		soon: ownWord === undefined ? soon + (isDisabled ? disabledPart : 0) : leastSoon,
	};
}

const widthOfHints = (hints: readonly ShownHint[]): number =>
	margin + hints.reduce((sum, {name, word}) => sum + widthOf(`${name} ${word}`) + gap, -gap);

/** Whether Escape has an effect in the table of hosts. It clears the filter, or returns to the GPUs of this host. */
const canGoBack = ({settings, hosts}: State): boolean => settings.hasNoPool !== true || isFiltered(hosts.filter);

/** Whether the open dialog shows a shell command, which Ctrl-Y copies. */
const hasShellCommand = ({dialog}: State): boolean =>
	isAsking(dialog) && dialog.kind !== 'command' && commandOf(dialog).shellCommand !== undefined;

/** Returns the hints that fit, in the order of the key table. */
const hintsOf = remembering(
	(state: State) => [state],
	(state): readonly ShownHint[] => {
		const mode = modeOf(state);
		let hints = bindingsWith(state.settings.keys)
			.filter(({modes, footer}) => footer !== undefined && modes.includes(mode))
			.filter(({keys}) => !keys.includes('escape') || mode !== 'hosts' || canGoBack(state))
			.filter(({intent}) => intent !== 'copy-shell-command' || hasShellCommand(state))
			.filter(({intent}) => typeof intent !== 'object' || intent.isOffered?.(state) !== false)
			.map((binding) => hintOf(binding, state));
		while (hints.length > 1 && widthOfHints(hints) > state.size.columns) {
			const soonest = Math.max(...hints.map(({soon}) => soon));
			hints = hints.toSpliced(
				hints.findLastIndex(({soon}) => soon === soonest),
				1,
			);
		}

		return hints;
	},
);

export const footerHints = keepingEqual(hintsOf);

/** Returns help for the `:` line: an error, or the words that can come next. Returns undefined if there is no help. */
export function useCommandLineHelp(): ReactElement | undefined {
	const dialog = useMonitor((state) => state.dialog);
	if (dialog?.kind !== 'command') {
		return undefined;
	}

	const {complaint, candidates, isBusy} = dialog;
	if (isBusy) {
		return <Label tone="dim">asking the pool</Label>;
	}

	if (complaint !== undefined) {
		return (
			<Label>
				<Label tone="error">ERR </Label>
				{complaint.message}
				<Label tone="dim">{(complaint.hint ?? '') === '' ? '' : `  ${complaint.hint}`}</Label>
			</Label>
		);
	}

	return candidates.length === 0 ? undefined : <Label tone="dim">{candidates.join('  ')}</Label>;
}

/** Shows the footer. If `hasHelp` is true, help for the `:` line is shown in place of the key hints. */
export function Footer({hasHelp = true}: {readonly hasHelp?: boolean}): ReactElement {
	const hints = useMonitor(footerHints);
	const help = useCommandLineHelp();
	return (
		<Box height={1} paddingLeft={margin} gap={gap} flexShrink={0} overflow="hidden">
			{(hasHelp ? help : undefined) ??
				hints.map(({name, word, isDisabled, pressed}) => (
					<KeyButton key={name} name={pressed}>
						<Hint name={name} word={word} isDisabled={isDisabled} />
					</KeyButton>
				))}
		</Box>
	);
}
