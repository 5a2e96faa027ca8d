/** What late parts put into the first view. */
import type {ComponentType} from 'preact';
import type {Gpu, Waiter} from './fields.js';
import {observable, Watch} from './observable.js';
import type {Route} from './router.js';
import type {PageState, Series} from './state/state.js';

/** What the first look at the page can do without: it is loaded when the server has said something, or did not answer. */
export type FollowUp = {
	readonly Banners: ComponentType<{readonly state: PageState}>;
	readonly Spark: ComponentType<{readonly series: Series}>;
	/** Shows in the title, the icon and the colours what is known. */
	readonly showInDocument: (known: PageState, shown: Route) => void;
	/** Draws conclusions from a message that is in the state now. */
	readonly heard: (message: {
		readonly before: PageState;
		/** Whether everything was said again. */
		readonly isWhole: boolean;
		/** Whether nothing was missed since the message before. */
		readonly isContinued: boolean;
	}) => void;
};

export const followUp = observable<FollowUp | undefined>(undefined);

/** What each view is given. */
export type ViewProps = {
	readonly state: PageState;
	readonly isShown: boolean;
	/** What the address says after the name of the view; empty while another view is shown. */
	readonly rest: string;
	/** What the address asks; while another view is shown, that is asked of the other one. */
	readonly query: URLSearchParams;
};

type ActSlots = {
	readonly Gpu: ComponentType<{readonly gpu: Gpu}>;
	readonly Waiter: ComponentType<{readonly waiter: Waiter}>;
};

/** The buttons of the part that acts; undefined while the page cannot act. */
export const actSlots = observable<ActSlots | undefined>(undefined);

export const GpuActions = ({gpu}: {readonly gpu: Gpu}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Gpu gpu={gpu} />}</Watch>
);

export const WaiterActions = ({waiter}: {readonly waiter: Waiter}) => (
	<Watch of={actSlots}>{(slots) => slots && <slots.Waiter waiter={waiter} />}</Watch>
);
