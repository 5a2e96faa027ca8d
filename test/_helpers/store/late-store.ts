/** A store on a bad network: requests come late or never, and answers are lost. */
import type {Store} from '../../../source/core/model/ports.js';
import {CanhazgpuError} from '../../../source/errors.js';

export type Fate =
	/** Nothing goes wrong. */
	| {readonly kind: 'prompt'}
	/** It is done, and nobody is told. */
	| {readonly kind: 'answer lost'}
	| {readonly kind: 'request lost'}
	/** The sender is told that nothing is known. It is done when so many more requests have come, just before the next of them. */
	| {readonly kind: 'late'; readonly after: number};

export type LateStore = {
	readonly wrap: (store: Store) => Store;
	/** From now on each request meets the next of these; after the last of them nothing goes wrong. */
	readonly meet: (fates: readonly Fate[]) => void;
	/** Delivers what is still on its way. */
	readonly deliver: () => Promise<void>;
};

const lost = () => new CanhazgpuError('store-unreachable', 'The answer was lost');

export function createLateStore(): LateStore {
	let fates: Fate[] = [];
	let onTheirWay: Array<{after: number; readonly send: () => Promise<unknown>}> = [];

	const deliverDue = async (isDue: (after: number) => boolean): Promise<void> => {
		const due = onTheirWay.filter(({after}) => isDue(after));
		onTheirWay = onTheirWay.filter(({after}) => !isDue(after));
		for (const {send} of due) {
			await send();
		}
	};

	const meet = async <Result>(send: () => Promise<Result>): Promise<Result> => {
		for (const message of onTheirWay) {
			message.after--;
		}

		await deliverDue((after) => after <= 0);
		const fate = fates.shift() ?? {kind: 'prompt'};
		switch (fate.kind) {
			case 'prompt': {
				return send();
			}

			case 'answer lost': {
				await send();
				throw lost();
			}

			case 'request lost': {
				throw lost();
			}

			case 'late': {
				onTheirWay.push({after: fate.after, send});
				throw lost();
			}
		}
	};

	return {
		wrap: (store) => ({
			...store,
			read: async (options) => meet(async () => store.read(options)),
			commit: async (plan) => meet(async () => store.commit(plan)),
		}),
		meet(next) {
			fates = [...next];
		},
		deliver: async () => deliverDue(() => true),
	};
}
