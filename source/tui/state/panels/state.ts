/** Which panel has the focus, and how each is scrolled and sorted. */

export const panelNames = ['table', 'detail', 'queue', 'report', 'events', 'processes', 'hosts'] as const;

export type PanelName = (typeof panelNames)[number];

/** Panels that scroll by lines; the tables and the queue follow their selection. */
export type ScrollingPanel = Extract<PanelName, 'detail' | 'report' | 'events'>;

export const reportKinds = ['user', 'gpu', 'day', 'model'] as const;

export type ReportKind = (typeof reportKinds)[number];

/** How far back the graphs of a GPU may go, in minutes. */
export const pastRanges = [5, 60, 360, 1440] as const;

export type PastRange = (typeof pastRanges)[number];

export type PanelsState = {
	readonly focus: PanelName;
	/** The panel with the focus has the screen to itself. */
	readonly isZoomed: boolean;
	/** First line shown. */
	readonly scroll: Readonly<Record<ScrollingPanel, number>>;
	/** The position in the queue that is selected: the entry itself, and where it stood when it was last seen. */
	readonly queue: {readonly selectedId?: string; readonly position: number};
	/** Processes as a tree: each below the one that started it. */
	readonly isTree: boolean;
	readonly reportBy: ReportKind;
	/** Minutes in the graphs of the detail. */
	readonly range: PastRange;
	/** Any whole number: they go round and round. */
	readonly helpPage: number;
};

export const initialPanels: PanelsState = {
	focus: 'table',
	isZoomed: false,
	scroll: {detail: 0, report: 0, events: 0},
	queue: {position: 0},
	isTree: false,
	reportBy: 'user',
	range: 5,
	helpPage: 0,
};
