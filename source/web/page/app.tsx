/** The whole page. */
import {Component, type ComponentChildren} from 'preact';
import type {About} from './fields.js';
import {Header} from './header.js';
import {late} from './late.js';
import {arrive, route, shownView, type Route, type View} from './router.js';
import {followUp} from './slots.js';
import {pageState} from './state/store.js';
import eventsStyle from './styles/late/late-events.css';
import hostsStyle from './styles/late/late-hosts.css';
import occupancyStyle from './styles/late/late-occupancy.css';
import actStyle from './styles/late/late-act.css';
import reportStyle from './styles/late/late-report.css';
import {joined} from './text.js';
import {Overview} from './views/overview.js';

const OccupancyView = late(async () => import('./occupancy/view.js'), occupancyStyle);
const ReportView = late(async () => import('./report/report.js'), reportStyle);
const Events = late(async () => import('./views/events.js'), eventsStyle);
const Act = late(async () => import('./act/act.js'), actStyle);
const Hosts = late(async () => import('./views/hosts.js'), hostsStyle);

/** The address that is shown: another view stands for one that there is not. */
const shownRoute = (): Route => ({...route.get(), view: shownView(route.get().view, pageState.get().about)});

const footText = ({version, location, driver, policy}: About): string =>
	joined(
		`canhazgpu ${version}`,
		location,
		driver === undefined ? '' : `driver ${driver}`,
		policy === undefined ? '' : `policy ${policy}`,
	);

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
		followUp.subscribe(draw);
	}

	override componentDidUpdate(): void {
		const before = this.drawn;
		this.drawn = route.get();
		followUp.get()?.showInDocument(pageState.get(), shownRoute());
		arrive(before, this.drawn);
	}

	override render() {
		const known = pageState.get();
		const {about} = known;
		const more = followUp.get();
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
				<div id="banners" class="banners">
					{more && <more.Banners state={known} />}
				</div>
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
