import type {About} from './fields.js';
import {viewNames, viewsOf, type View} from './router.js';
import type {PageState} from './state/state.js';
import {now} from './state/store.js';
import {chooseOtherTheme, theme} from './theme.js';
import {Watch} from './observable.js';
import {duration} from './text.js';

export type PillKind = 'connecting' | 'live' | 'lost' | 'stale';

/** Returns the state of the connection. Never `stale` for a host without a pool, because such a host shows no values. */
export const pillKindOf = ({about, link, store, scan}: PageState): PillKind =>
	link.kind === 'live' && about?.has_pool !== false && !(store?.live === true && scan?.live === true)
		? 'stale'
		: link.kind;

const sinceOf = ({link, store, scan}: PageState): number | undefined =>
	link.kind === 'lost' ? link.sinceMs : (store?.since_ms ?? scan?.since_ms);

const pillText: Readonly<Record<Exclude<PillKind, 'stale'>, string>> = {
	live: 'Live',
	connecting: 'Connecting',
	lost: 'Reconnecting',
};

const staleText = (sinceMs: number | undefined, nowMs: number): string =>
	sinceMs === undefined ? 'Starting' : `Stale ${duration(nowMs - sinceMs)}`;

function Pill({state}: {readonly state: PageState}) {
	const kind = pillKindOf(state);
	return (
		<span id="pill" data-kind={kind}>
			<span id="pill-text">
				{kind === 'stale' ? <Watch of={now}>{(nowMs) => staleText(sinceOf(state), nowMs)}</Watch> : pillText[kind]}
			</span>
		</span>
	);
}

const Brand = () => (
	<a class="brand" aria-label="canhazgpu, overview" href="#/">
		<svg aria-hidden="true" viewBox="0 0 24 24">
			<rect height="14" rx="3" width="14" x="5" y="5" />
			<path d="M9 2v3M15 2v3M9 19v3M15 19v3M2 9h3M2 15h3M19 9h3M19 15h3" />
			<path d="M9.5 12.2l1.8 1.8 3.4-3.8" />
		</svg>
		<span>canhazgpu</span>
	</a>
);

const sunRays = 'M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2';

const ThemeButton = () => (
	<Watch of={theme}>
		{(shown) => (
			<button
				id="theme"
				type="button"
				aria-label="Light theme"
				aria-pressed={shown === 'light'}
				onClick={chooseOtherTheme}
			>
				<svg aria-hidden="true" viewBox="0 0 24 24">
					<circle class="sun" cx="12" cy="12" r="4.2" />
					<path class="sun" d={sunRays} />
					<path class="moon" d="M20 14.2A8.2 8.2 0 0 1 9.8 4a8.2 8.2 0 1 0 10.2 10.2z" />
				</svg>
			</button>
		)}
	</Watch>
);

function Badges({about}: {readonly about: About | undefined}) {
	return (
		<span id="badges">
			{about?.demo === true && <span title="Simulated GPUs in memory: nothing is saved">Demo</span>}
			{about?.demo === false && about.simulated === true && (
				<span title="No real hardware is behind this pool">Simulated</span>
			)}
			{about?.engine !== undefined && <span>Slurm</span>}
			{about?.private_label !== undefined && <span title={about.private_label}>Private pool</span>}
		</span>
	);
}

export const Header = ({state, view}: {readonly state: PageState; readonly view: View}) => (
	<header class="top">
		<div class="top-row">
			<Brand />
			<span id="host" class="host">
				{state.about?.host}
			</span>
			<Badges about={state.about} />
			<nav class="tabs" aria-label="Views" data-arrows="a">
				{viewsOf(state.about).map((name) => (
					<a
						key={name}
						data-view={name}
						href={name === 'overview' ? '#/' : `#/${name}`}
						aria-current={name === view ? 'page' : undefined}
					>
						{viewNames[name]}
					</a>
				))}
			</nav>
			<Pill state={state} />
			<ThemeButton />
		</div>
	</header>
);
