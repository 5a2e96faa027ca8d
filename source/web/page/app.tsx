/** The whole page. */
import type {ComponentChildren} from 'preact';
import {useLayoutEffect, useRef} from 'preact/hooks';
import {Banners} from './banners.js';
import type {About} from './fields.js';
import {Header, pillKindOf, viewNames, type PillKind} from './header.js';
import {late} from './late.js';
import {shownView, useRoute, type View} from './router.js';
import type {PageState} from './state/state.js';
import {usePageState} from './state/store.js';
import eventsStyle from './styles/late/late-events.css';
import hostsStyle from './styles/late/late-hosts.css';
import occupancyStyle from './styles/late/late-occupancy.css';
import actStyle from './styles/late/late-act.css';
import reportStyle from './styles/late/late-report.css';
import {Overview} from './views/overview.js';

const OccupancyView = late(async () => (await import('./occupancy/view.js')).OccupancyView, occupancyStyle);
const ReportView = late(async () => (await import('./report/report.js')).ReportView, reportStyle);
const Events = late(async () => (await import('./views/events.js')).Events, eventsStyle);
const Act = late(async () => (await import('./act/act.js')).Act, actStyle);
const Hosts = late(async () => (await import('./views/hosts.js')).Hosts, hostsStyle);

const pillTitles: Readonly<Record<PillKind, string>> = {live: '', connecting: '', lost: 'Reconnecting', stale: 'Stale'};

/** What can be said in a few words: how many are free, as long as that is known. */
function titleOf({about, gpus}: PageState, kind: PillKind, part: string): string {
	if (about === undefined) {
		return 'canhazgpu';
	}

	const free = gpus.filter(({state}) => state === 'available').length;
	const first = kind === 'live' && about.has_pool ? `${free} free` : pillTitles[kind];
	return [part, first, about.host, 'canhazgpu'].filter(Boolean).join(' · ');
}

/** The icon tells by its form and colour: some are free, none is, or it is not known now. */
function iconOf({about, gpus}: PageState, kind: PillKind): string {
	if (kind !== 'live') {
		return '/icon-stale.svg';
	}

	const isTaken = about?.has_pool === true && gpus.every(({state}) => state !== 'available');
	return isTaken ? '/icon-taken.svg' : '/icon.svg';
}

/** What is outside of the components' elements: the title, the icon, and that all is old. */
function useDocument(state: PageState, view: View, openGpu: string): void {
	const kind = pillKindOf(state);
	const part = view === 'overview' ? (openGpu === '' ? '' : `GPU ${openGpu}`) : viewNames[view];
	const title = titleOf(state, kind, part);
	const icon = iconOf(state, kind);
	useLayoutEffect(() => {
		document.title = title;
		document.querySelector<HTMLLinkElement>('link[rel="icon"]')!.href = icon;
		document.body.toggleAttribute('data-stale', kind === 'stale' || kind === 'lost');
	}, [title, icon, kind]);
}

type ViewSectionProps = {readonly name: View; readonly shown: View; readonly children: ComponentChildren};

/** Whether it is shown or was before. */
function useOnceShown(isShown: boolean): boolean {
	const wasShown = useRef(false);
	wasShown.current ||= isShown;
	return wasShown.current;
}

/** A view that is shown no more stays as it is, with what is open in it. */
const ViewSection = ({name, shown, children}: ViewSectionProps) => (
	<section id={`view-${name}`} class="view" aria-labelledby={`${name}-title`} hidden={name !== shown}>
		{useOnceShown(name === shown) && children}
	</section>
);

const footText = ({version, location, driver, policy}: About): string =>
	[
		`canhazgpu ${version}`,
		...(location === undefined ? [] : [location]),
		...(driver === undefined ? [] : [`driver ${driver}`]),
		...(policy === undefined ? [] : [`policy ${policy}`]),
	].join(' · ');

export function App() {
	const state = usePageState();
	const route = useRoute();
	const {about} = state;
	const view = shownView(route.view, about);
	const overviewQuery = useRef(route.query);
	const openGpu = view === 'overview' ? route.rest : '';
	if (view === 'overview') {
		overviewQuery.current = route.query;
	}

	useDocument(state, view, openGpu);
	return (
		<>
			<a
				class="skip"
				href="#main"
				onClick={(event) => {
					// The address stays that of the view.
					event.preventDefault();
					document.querySelector<HTMLElement>('#main')?.focus();
				}}
			>
				Skip to the GPUs
			</a>
			<Header state={state} view={view} />
			<Banners state={state} />
			{about?.acts_as !== undefined && <Act state={state} account={about.acts_as} />}
			<main id="main" tabindex={-1}>
				<ViewSection name="overview" shown={view}>
					<Overview state={state} query={overviewQuery.current} openGpu={openGpu} />
				</ViewSection>
				<ViewSection name="occupancy" shown={view}>
					<OccupancyView isShown={view === 'occupancy'} leaseChanges={state.leaseChanges} query={route.query} />
				</ViewSection>
				<ViewSection name="report" shown={view}>
					<ReportView isShown={view === 'report'} leaseChanges={state.leaseChanges} about={about} query={route.query} />
				</ViewSection>
				<ViewSection name="events" shown={view}>
					<Events events={state.events} />
				</ViewSection>
				<ViewSection name="hosts" shown={view}>
					<Hosts state={state} chosen={route.view === 'hosts' ? route.rest : ''} />
				</ViewSection>
			</main>
			<footer id="foot" class="foot">
				{/* With the first state: what is drawn before is moved by it. */}
				{about && (
					<>
						<span>{footText(about)}</span>
						<a href="/help">Documentation</a>
						<a href="/help/web">API</a>
						<a href="/help/metrics">Metrics</a>
					</>
				)}
			</footer>
			<div id="announcer" class="unseen" aria-live="polite" role="status">
				{state.announcement}
			</div>
		</>
	);
}
