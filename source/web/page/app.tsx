/** The whole page. */
import type {ComponentChildren} from 'preact';
import {useLayoutEffect} from 'preact/hooks';
import {Banners} from './banners.js';
import type {About} from './fields.js';
import {Header, pillKindOf} from './header.js';
import {shownView, useRoute, type View} from './router.js';
import type {PageState} from './state/state.js';
import {usePageState} from './state/store.js';
import {Events} from './views/events.js';
import {Hosts} from './views/hosts.js';
import {Overview} from './views/overview.js';
import {ReportView} from './views/report.js';

/** What is outside of the components' elements: the title, and that all is old. */
function useDocument(state: PageState): void {
	const {about, gpus} = state;
	const free = gpus.filter(({state: own}) => own === 'available').length;
	const title = about === undefined ? 'canhazgpu' : `${free} free · ${about.host} · canhazgpu`;
	const kind = pillKindOf(state);
	useLayoutEffect(() => {
		document.title = title;
		document.body.toggleAttribute('data-stale', kind === 'stale' || kind === 'lost');
	}, [title, kind]);
}

type ViewSectionProps = {readonly name: View; readonly shown: View; readonly children: ComponentChildren};

/** A view that is not shown stays as it is, with what is open in it. */
const ViewSection = ({name, shown, children}: ViewSectionProps) => (
	<section id={`view-${name}`} class="view" aria-labelledby={`${name}-title`} hidden={name !== shown}>
		{children}
	</section>
);

const footWords = ({version, location, driver}: About): string =>
	[
		`canhazgpu ${version}`,
		...(location === undefined ? [] : [location]),
		...(driver === undefined ? [] : [`driver ${driver}`]),
	].join(' · ');

export function App() {
	const state = usePageState();
	const route = useRoute();
	useDocument(state);
	const {about} = state;
	const view = shownView(route.view, about);
	return (
		<>
			<a class="skip" href="#main">
				Skip to the GPUs
			</a>
			<Header state={state} view={view} />
			<Banners state={state} />
			<main id="main" tabindex={-1}>
				<ViewSection name="overview" shown={view}>
					<Overview state={state} />
				</ViewSection>
				<ViewSection name="report" shown={view}>
					<ReportView isShown={view === 'report'} leaseChanges={state.leaseChanges} />
				</ViewSection>
				<ViewSection name="events" shown={view}>
					<Events events={state.events} />
				</ViewSection>
				<ViewSection name="hosts" shown={view}>
					<Hosts state={state} chosen={route.view === 'hosts' ? route.rest : ''} />
				</ViewSection>
			</main>
			<footer id="foot" class="foot">
				{about && footWords(about)}
			</footer>
			<div id="announcer" class="unseen" aria-live="polite" role="status">
				{state.announcement}
			</div>
		</>
	);
}
