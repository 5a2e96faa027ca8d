/** A store behind a bad network. Requests arrive late or never, and replies are lost. */
import type {Store} from '../../../source/core/model/ports.js';
import {CanhazgpuError} from '../../../source/errors.js';

export type Fate =
	/** Request and reply arrive at once. */
	| {readonly kind: 'prompt'}
	/** The request is carried out, but its reply is lost. */
	| {readonly kind: 'answer lost'}
	| {readonly kind: 'request lost'}
	/** The sender gets an error. The request is carried out right before the request that comes `after` more requests later. */
	| {readonly kind: 'late'; readonly after: number};

export type LateStore = {
	readonly wrap: (store: Store) => Store;
	/** Assigns these fates to the next requests. Later requests are prompt. */
	readonly meet: (fates: readonly Fate[]) => void;
	/** Delivers the delayed requests. */
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
