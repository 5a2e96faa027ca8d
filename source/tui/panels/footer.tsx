/** The last line: the keys that do something now, from the table of keys. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {widthOf} from '../../format/text/width.js';
import {bindingsWith} from '../keys/custom.js';
import type {Binding} from '../keys/bindings.js';
import {useMouse} from '../mouse/mouse-context.js';
import {usePressKey} from '../keys/key-context.js';
import {modeOf} from '../state/keys.js';
import {remembering} from '../state/memo.js';
import type {State} from '../state/state.js';
import {isFiltered} from '../state/table/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {verbOf} from '../verbs/index.js';
import {Hint} from '../widgets/hint.js';
import {Label} from '../widgets/label.js';

type ShownHint = {
	/** The key as the footer writes it. */
	readonly name: string;
	readonly word: string;
	readonly isDisabled: boolean;
	/** The key that a click presses, as the table of keys names it. */
	readonly pressed: string;
	/** Hints with larger numbers are left out first where there is no room. */
	readonly soon: number;
};

/** What the selected row can do now is worth more than everything else. */
const leastSoon = -1;
/** A disabled hint goes before others that are worth as much. */
const disabledPart = 0.5;
const margin = 1;
const gap = 2;

function hintOf({footer, intent, modes, keys}: Binding, state: State): ShownHint {
	const [name, usual, soon = 0] = footer!;
	const command = typeof intent === 'object' ? intent : undefined;
	const {dialog} = state;
	const isForm = intent === 'submit' && modes.includes('form') && dialog?.kind === 'form';
	const submitWord = isForm ? verbOf(dialog).submitWord?.(dialog) : undefined;
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

/** Whether Escape does something over the table of all hosts: it clears the filter, or goes back to the pool of this computer. */
const canGoBack = ({settings, hosts}: State): boolean => settings.hasNoPool !== true || isFiltered(hosts.filter);

/** Returns the hints that fit, in the order of the table of keys. */
export const footerHints = remembering(
	(state: State) => [state],
	(state): readonly ShownHint[] => {
		const mode = modeOf(state);
		let hints = bindingsWith(state.settings.keys)
			.filter(({modes, footer}) => footer !== undefined && modes.includes(mode))
			.filter(({keys}) => !keys.includes('escape') || mode !== 'hosts' || canGoBack(state))
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

type ClickableProperties = Pick<ShownHint, 'name' | 'word' | 'isDisabled'> & {readonly press: () => void};

/** A hint that can be clicked. */
function ClickableHint({name, word, isDisabled, press}: ClickableProperties): ReactElement {
	const ref = useMouse({
		onClick() {
			press();
			return true;
		},
	});
	return (
		<Box ref={ref} flexShrink={0}>
			<Hint name={name} word={word} isDisabled={isDisabled} />
		</Box>
	);
}

/** Returns what stands below the `:` line: an error in it, or what could follow. Undefined where there is nothing to say. */
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

/** @param properties - `hasHelp`: help for the `:` line takes the place of the keys. */
export function Footer({hasHelp = true}: {readonly hasHelp?: boolean}): ReactElement {
	const hints = useMonitor(footerHints);
	const press = usePressKey();
	const help = useCommandLineHelp();
	return (
		<Box height={1} paddingLeft={margin} gap={gap} flexShrink={0} overflow="hidden">
			{(hasHelp ? help : undefined) ??
				hints.map(({name, word, isDisabled, pressed}) => (
					<ClickableHint
						key={name}
						name={name}
						word={word}
						isDisabled={isDisabled}
						press={() => {
							press(pressed);
						}}
					/>
				))}
		</Box>
	);
}
