import type {ComponentType} from 'preact';
import type {Gpu, Waiter} from './fields.js';
import {observable, Watch} from './observable.js';
import type {Route} from './router.js';
import type {PageState, Series} from './state/state.js';

/** The part that loads after the first message of the server, or its failure. */
export type FollowUp = {
	readonly Banners: ComponentType<{readonly state: PageState}>;
	readonly Spark: ComponentType<{readonly series: Series}>;
	readonly showInDocument: (known: PageState, shown: Route) => void;
	readonly heard: (message: {
		readonly before: PageState;
		/** Whether the message was a complete state. */
		readonly isWhole: boolean;
		/** Whether no message was missed before. */
		readonly isContinued: boolean;
	}) => void;
};

export const followUp = observable<FollowUp | undefined>(undefined);

export type ViewProps = {
	readonly state: PageState;
	readonly isShown: boolean;
	/** The address after the name of the view. Empty while another view is shown. */
	readonly rest: string;
	/** The query. It belongs to another view while that is shown. */
	readonly query: URLSearchParams;
};

type ActSlots = {
	readonly Gpu: ComponentType<{readonly gpu: Gpu}>;
	readonly Waiter: ComponentType<{readonly waiter: Waiter}>;
};

/** The buttons of an acting page. Undefined while it cannot act. */
export const actSlots = observable<ActSlots | undefined>(undefined);

export const GpuActions = ({gpu}: {readonly gpu: Gpu}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Gpu gpu={gpu} />}</Watch>
);

export const WaiterActions = ({waiter}: {readonly waiter: Waiter}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Waiter waiter={waiter} />}</Watch>
);
