/** How tables name the holder of a reservation that has a label. */
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import {ownerText} from '../../format/owner.js';
import {sanitize} from '../../format/text/text.js';
import {allHostLines, holderOf, type Holder} from './hosts/lines.js';
import {remembering} from './memo.js';
import type {State} from './state.js';

const accountsWithSeveralLabels = (all: readonly Holder[]): ReadonlySet<string> =>
	new Set(
		Map.groupBy(all, ({account}) => account)
			.entries()
			.filter(([, names]) => new Set(names.map(({label}) => label)).size > 1)
			.map(([account]) => account),
	);

/** The accounts that hold GPUs, or wait for them, under different labels. */
export const severalLabels = remembering(
	({snapshot}: State) => [snapshot],
	({snapshot}) =>
		accountsWithSeveralLabels(
			[
				...holdingsIn(snapshot?.gpus ?? []).map(({lease}) => lease),
				...(snapshot?.queue ?? []).flatMap((record) => (record.kind === 'entry' ? [record.entry] : [])),
			].map((held) => ({account: ownerOf(held), label: labelOf(held)})),
		),
);

/** The accounts that hold GPUs of any host under different labels. */
export const severalLabelsOfHosts = remembering(
	(state: State) => [allHostLines(state)],
	(state) =>
		accountsWithSeveralLabels(
			allHostLines(state).flatMap((line) => (line.kind === 'gpu' ? (holderOf(line.gpu) ?? []) : [])),
		),
);

/** Returns `account (label)`. For an account with several labels, returns `label @account`, because only the label distinguishes the rows. */
export const nameIn = (accounts: ReadonlySet<string>, {account, label}: Holder): string =>
	label !== undefined && accounts.has(account) ? `${sanitize(label)} @${sanitize(account)}` : ownerText(account, label);
