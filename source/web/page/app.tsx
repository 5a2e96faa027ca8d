import {Component, type ComponentType} from 'preact';
import type {About} from './fields.js';
import {Header} from './header.js';
import {late} from './late.js';
import {arrive, route, shownView, views, type Route, type View} from './router.js';
import {followUp, type ViewProps} from './slots.js';
import {pageState} from './state/store.js';
import {joined} from './text.js';
import {Overview} from './views/overview.js';

const viewParts: Readonly<Record<View, ComponentType<ViewProps>>> = {
	overview: Overview,
	jobs: late(async () => import('./jobs/view.js'), 'jobs'),
	occupancy: late(async () => import('./occupancy/view.js'), 'occupancy'),
	report: late(async () => import('./report/report.js'), 'report'),
	events: late(async () => import('./views/events.js'), 'events'),
	hosts: late(async () => import('./views/hosts.js'), 'hosts'),
};
const Act = late(async () => import('./act/act.js'), 'act');

/** Returns the requested route, or the route of another view if the requested view is not available. */
function shownRoute(): Route {
	const asked = route.get();
	const view = shownView(asked.view, pageState.get().about);
	return view === asked.view ? asked : {...asked, view, rest: ''};
}

const footText = ({version, location, driver, policy}: About): string =>
	joined(
		`canhazgpu ${version}`,
		location,
		driver === undefined ? '' : `driver ${driver}`,
		policy === undefined ? '' : `policy ${policy}`,
	);

export class App extends Component {
	private drawn: Route = route.get();
	/** The query of the overview. It is kept while another view is shown. */
	private overviewQuery = this.drawn.query;
	/** The views that were opened. They stay in the document, so that their open elements stay open. */
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
						// Keeps the address of the view, which the link would replace.
						event.preventDefault();
						document.querySelector<HTMLElement>('#main')?.focus();
					}}
				>
					Skip to the GPUs
				</a>
				<Header state={known} view={view} />
				<div id="banners">{more && <more.Banners state={known} />}</div>
				{about?.acts_as !== undefined && <Act state={known} account={about.acts_as} />}
				<main id="main" tabindex={-1}>
					{views.map((name) => {
						const Part = viewParts[name];
						const isShown = name === view;
						return (
							<section key={name} id={`view-${name}`} class="view" aria-labelledby={`${name}-title`} hidden={!isShown}>
								{this.opened.has(name) && (
									<Part
										state={known}
										isShown={isShown}
										rest={isShown ? rest : ''}
										query={name === 'overview' ? this.overviewQuery : query}
									/>
								)}
							</section>
						);
					})}
				</main>
				<footer id="foot">
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
}
