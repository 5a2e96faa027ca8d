/** Where the late part that acts puts its buttons, on a server that lets the page act. */
import type {ComponentType} from 'preact';
import type {Gpu, Waiter} from './fields.js';
import {observable, useObservable} from './observable.js';

type Slots = {
	readonly Gpu: ComponentType<{readonly gpu: Gpu}>;
	readonly Waiter: ComponentType<{readonly waiter: Waiter}>;
};

/** Undefined while the page cannot act. */
export const actSlots = observable<Slots | undefined>(undefined);

export function GpuActions({gpu}: {readonly gpu: Gpu}) {
	const slots = useObservable(actSlots);
	return slots && <slots.Gpu gpu={gpu} />;
}

export function WaiterActions({waiter}: {readonly waiter: Waiter}) {
	const slots = useObservable(actSlots);
	return slots && <slots.Waiter waiter={waiter} />;
}
