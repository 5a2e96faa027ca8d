/** The whole page. */
import {Component, type ComponentChildren} from 'preact';
import {Banners} from './banners.js';
import type {About} from './fields.js';
import {Header, pillKindOf, viewNames, type PillKind} from './header.js';
import {late} from './late.js';
import {arrive, route, shownView, type Route, type View} from './router.js';
import type {PageState} from './state/state.js';
import {pageState} from './state/store.js';
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
	// Before anything is known there is nothing that could be old, and one icon less is loaded.
	const isFirst = about === undefined && kind === 'connecting';
	if (kind !== 'live' && !isFirst) {
		return '/icon-stale.svg';
	}

	const isTaken = about?.has_pool === true && gpus.every(({state}) => state !== 'available');
	return isTaken ? '/icon-taken.svg' : '/icon.svg';
}

/** What is outside of the components' elements: the title, the icon, and that all is old. */
function showInDocument(known: PageState, {view, rest}: Route): void {
	const kind = pillKindOf(known);
	const partName = view === 'overview' ? (rest === '' ? '' : `GPU ${rest}`) : viewNames[view];
	document.title = titleOf(known, kind, partName);
	const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')!;
	const icon = iconOf(known, kind);
	// An icon that is named again is loaded again.
	if (link.getAttribute('href') !== icon) {
		link.href = icon;
	}

	document.body.toggleAttribute('data-stale', kind === 'stale' || kind === 'lost');
}

/** The address that is shown: another view stands for one that there is not. */
const shownRoute = (): Route => ({...route.get(), view: shownView(route.get().view, pageState.get().about)});

const footText = ({version, location, driver, policy}: About): string =>
	[
		`canhazgpu ${version}`,
		...(location === undefined ? [] : [location]),
		...(driver === undefined ? [] : [`driver ${driver}`]),
		...(policy === undefined ? [] : [`policy ${policy}`]),
	].join(' · ');

export class App extends Component {
	/** What was drawn last. */
	private drawn: Route = route.get();
	/** Of the overview while another view is shown. */
	private overviewQuery = this.drawn.query;
	/** The views that were shown: they stay as they are, with what is open in them. */
	private readonly opened = new Set<View>();

	override componentDidMount(): void {
		const draw = (): void => {
			this.forceUpdate();
		};

		pageState.subscribe(draw);
		route.subscribe(draw);
		showInDocument(pageState.get(), shownRoute());
	}

	override componentDidUpdate(): void {
		const before = this.drawn;
		this.drawn = route.get();
		showInDocument(pageState.get(), shownRoute());
		arrive(before, this.drawn);
	}

	override render() {
		const known = pageState.get();
		const {about} = known;
		const {view, rest, query} = shownRoute();
		this.opened.add(view);
		if (view === 'overview') {
			this.overviewQuery = query;
		}

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
				<Header state={known} view={view} />
				<Banners state={known} />
				{about?.acts_as !== undefined && <Act state={known} account={about.acts_as} />}
				<main id="main" tabindex={-1}>
					{this.section(
						'overview',
						view,
						<Overview state={known} query={this.overviewQuery} openGpu={view === 'overview' ? rest : ''} />,
					)}
					{this.section(
						'occupancy',
						view,
						<OccupancyView isShown={view === 'occupancy'} leaseChanges={known.leaseChanges} query={query} />,
					)}
					{this.section(
						'report',
						view,
						<ReportView isShown={view === 'report'} leaseChanges={known.leaseChanges} about={about} query={query} />,
					)}
					{this.section('events', view, <Events events={known.events} />)}
					{this.section('hosts', view, <Hosts state={known} chosen={route.get().view === 'hosts' ? rest : ''} />)}
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
					{known.announcement}
				</div>
			</>
		);
	}

	private section(name: View, shown: View, children: ComponentChildren) {
		return (
			<section id={`view-${name}`} class="view" aria-labelledby={`${name}-title`} hidden={name !== shown}>
				{this.opened.has(name) && children}
			</section>
		);
	}
}
