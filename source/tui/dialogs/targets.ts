/** What `x` and `e` are about to act on, GPU by GPU where there are several, and what they leave alone. */
import type {HeldGpu} from '../../core/rules/leases/selection.js';
import {shortDuration} from '../../format/text/durations.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {sanitize} from '../../format/text/text.js';
import {fit, wrap} from '../../format/text/width.js';
import type {Targets} from '../state/dialogs.js';
import {storeNow, type State} from '../state/state.js';
import {leftOutWords} from '../verbs/targets.js';
import type {Glyphs} from '../widgets/glyphs.js';
import {span, type Line} from '../widgets/styled-text.js';
import {dialogWidth, sides} from './dialog-parts.js';

/** More GPUs than so many are not named one by one. */
const mostNamed = 8;

/** `GPU 3`, `GPUs 1,3`, `12 GPUs`. */
export const targetNames = (targets: readonly HeldGpu[]): string =>
	gpuList(
		targets.map(({index}) => index),
		mostNamed,
	);

/** `carol, MANUAL, held 6h40m, ends in 12m`. */
function holdingWords({lease}: HeldGpu, state: State): string {
	const now = storeNow(state) ?? lease.startTime;
	return [
		sanitize(lease.user),
		lease.type === 'run' ? 'RUN' : 'MANUAL',
		`held ${shortDuration(now - lease.startTime)}`,
		lease.expiryTime === undefined ? 'ends with its job' : `ends in ${shortDuration(lease.expiryTime - now)}`,
	].join(', ');
}

/** Lines of a dialog beside these, on the smallest screen. */
const otherLines = 13;
const mostGroups = 6;
const mostLeftOutLines = 2;

/** One line for all that are held alike; of too many lines the rest is counted. */
function groupLines(targets: readonly HeldGpu[], state: State): readonly Line[] {
	const groups = Map.groupBy(targets, (target) => holdingWords(target, state))
		.entries()
		.toArray();
	const most = Math.max(1, Math.min(mostGroups, state.size.rows - otherLines));
	const shown = groups.length > most ? groups.slice(0, Math.max(1, most - 1)) : groups;
	const hidden = groups.slice(shown.length).flatMap(([, held]) => held);
	const names = shown.map(([, held]) => targetNames(held));
	const width = Math.max(...names.map((name) => name.length));
	return [
		...shown.map(([words], place): Line => [span(fit(names[place]!, width)), span(`  ${words}`, 'dim')]),
		...(hidden.length > 0
			? [
					[
						span(
							`and ${gpuList(
								hidden.map(({index}) => index),
								0,
							)} more`,
							'dim',
						),
					],
				]
			: []),
	];
}

/** One GPU that was chosen needs no name beside that in the title. */
export function targetLines({targets, leftOut}: Targets, state: State, glyphs: Glyphs): readonly Line[] {
	if (targets.length === 1 && leftOut.length === 0) {
		return [[span(holdingWords(targets[0]!, state), 'dim')]];
	}

	const words = leftOut.length === 0 ? '' : `Left out: ${leftOutWords(leftOut)}`;
	return [
		...groupLines(targets, state),
		...wrap(words, dialogWidth(state) - sides, mostLeftOutLines, glyphs.ellipsis).map((line): Line => [
			span(line, 'warning'),
		]),
	];
}
