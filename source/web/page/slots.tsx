import type {ComponentType} from 'preact';
import type {Gpu, Job, Waiter} from './fields.js';
import {observable, Watch} from './observable.js';
import type {Route} from './router.js';
import type {PageState, Series} from './state/state.js';

/** The parts that are loaded after the first message of the server, or after the first failure to connect. */
export type FollowUp = {
	readonly Banners: ComponentType<{readonly state: PageState}>;
	readonly Spark: ComponentType<{readonly series: Series}>;
	readonly showInDocument: (known: PageState, shown: Route) => void;
	readonly heard: (message: {
		readonly before: PageState;
		/** Whether the message was a complete state. */
		readonly isWhole: boolean;
		/** False if messages before this one were missed. */
		readonly isContinued: boolean;
	}) => void;
};

export const followUp = observable<FollowUp | undefined>(undefined);

export type ViewProps = {
	readonly state: PageState;
	readonly isShown: boolean;
	/** The part of the address after the name of the view. Empty while another view is shown. */
	readonly rest: string;
	/** The query of the address. While another view is shown, it is the query of that view. */
	readonly query: URLSearchParams;
};

type ActSlots = {
	readonly Gpu: ComponentType<{readonly gpu: Gpu}>;
	readonly Waiter: ComponentType<{readonly waiter: Waiter}>;
	/** `siblings` is how many other jobs of the same array have not ended. */
	readonly Job: ComponentType<{readonly job: Job; readonly siblings: number}>;
};

/** The buttons of a page that can make changes. Undefined while there is no session. */
export const actSlots = observable<ActSlots | undefined>(undefined);

export const GpuActions = ({gpu}: {readonly gpu: Gpu}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Gpu gpu={gpu} />}</Watch>
);

export const WaiterActions = ({waiter}: {readonly waiter: Waiter}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Waiter waiter={waiter} />}</Watch>
);

export const JobActions = ({job, siblings}: {readonly job: Job; readonly siblings: number}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Job job={job} siblings={siblings} />}</Watch>
);
