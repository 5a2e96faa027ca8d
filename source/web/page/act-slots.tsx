/** Where the late part that acts puts its buttons, on a server that lets the page act. */
import type {ComponentType} from 'preact';
import type {Gpu, Waiter} from './fields.js';
import {observable} from './observable.js';
import {Watch} from './watch.js';

type Slots = {
	readonly Gpu: ComponentType<{readonly gpu: Gpu}>;
	readonly Waiter: ComponentType<{readonly waiter: Waiter}>;
};

/** Undefined while the page cannot act. */
export const actSlots = observable<Slots | undefined>(undefined);

export const GpuActions = ({gpu}: {readonly gpu: Gpu}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Gpu gpu={gpu} />}</Watch>
);

export const WaiterActions = ({waiter}: {readonly waiter: Waiter}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Waiter waiter={waiter} />}</Watch>
);
