/** Cards of all hosts, and the details of one host. The values of this host are live. The server asks the other hosts while this view is shown. */
import {useState} from 'preact/hooks';
import {gpuStates} from '../../../format/states.js';
import type {Gpu} from '../fields.js';
import {Cards} from '../gpu/card.js';
import type {ViewProps} from '../slots.js';
import type {KnownHost, PageState} from '../state/state.js';
import {useNow} from '../shared/hooks.js';
import {counted, duration, freeIn} from '../text.js';
import {AllGpus} from './all-gpus.js';

/** Maximum age in ms of an answer that is not marked as old. */
const freshMs = 30_000;

const modelText = (gpus: readonly Gpu[]): string =>
	[...Map.groupBy(gpus, ({gpu_model: model}) => model)]
		.flatMap(([model, own]) => (model === undefined ? [] : [`${own.length} × ${model}`]))
		.join(', ');

const availableText = (gpus: readonly Gpu[]): string => `${freeIn(gpus)} of ${counted(gpus.length, 'GPU')} free`;

/** Returns the age of the values of a host. Undefined if they are live or unknown. */
function useAge(host: KnownHost | undefined): number | undefined {
	// Uses this machine's clock, like the time of the answer. The server's clock only triggers the update.
	useNow();
	return host?.atMs === undefined ? undefined : Date.now() - host.atMs;
}

const ageText = (ageMs: number | undefined): string => (ageMs === undefined ? '' : `as it was ${duration(ageMs)} ago`);

function HostCard({name, host}: {readonly name: string; readonly host: KnownHost | undefined}) {
	const ageMs = useAge(host);
	const isOld = ageMs !== undefined && (ageMs > freshMs || host?.error !== undefined);
	const gpus = host?.gpus ?? [];
	const allStates = gpus.map(({gpu_id: index, state}) => `GPU ${index} ${gpuStates[state].label}`).join(', ');
	return (
		<li
			class="card host-card"
			data-host={name}
			data-state={host?.error === undefined ? undefined : 'error'}
			data-old={isOld ? '' : undefined}
		>
			<span class="card-title">
				<a class="host-name" href={`#/hosts/${encodeURIComponent(name)}`}>
					{name}
				</a>
			</span>
			<span class="time">{host === undefined ? 'Asking…' : (host.error ?? availableText(gpus))}</span>
			<span class="squares" role="img" aria-label={allStates === '' ? 'No GPUs are known' : allStates}>
				{gpus.map(({gpu_id: index, state}) => (
					<span key={index} class="square" data-state={state} title={`GPU ${index}: ${gpuStates[state].label}`} />
				))}
			</span>
			<span class="model">{modelText(gpus)}</span>
			<span class="time host-age">{isOld ? ageText(ageMs) : ''}</span>
		</li>
	);
}

type HostGpusProps = {readonly gpus: readonly Gpu[]; readonly isOld: boolean};

function HostGpus({gpus, isOld}: HostGpusProps) {
	const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
	return <Cards gpus={gpus} open={open} setOpen={setOpen} prefix="host" isOld={isOld} />;
}

const Title = ({children}: {readonly children: string}) => (
	<h1 id="hosts-title" tabindex={-1}>
		{children}
	</h1>
);

function OneHost({state, chosen}: {readonly state: PageState; readonly chosen: string}) {
	const names = state.about?.hosts ?? [];
	const host = hostOf(state, chosen);
	const problem = names.length > 0 && !names.includes(chosen) ? 'There is no such host here.' : host?.error;
	return (
		<>
			<div class="section-head">
				<Title>{chosen}</Title>
				<a class="text-button" data-back href="#/hosts">
					← All hosts
				</a>
				<span class="time">{ageText(useAge(host))}</span>
			</div>
			{problem !== undefined && (
				<p class="banner" data-kind="store">
					{problem}
				</p>
			)}
			{/* The key keeps GPUs apart that have the same number on different hosts. */}
			<HostGpus key={chosen} gpus={host?.gpus ?? []} isOld={problem !== undefined} />
		</>
	);
}

const hostOf = ({about, gpus, hosts}: PageState, name: string): KnownHost | undefined =>
	about?.has_pool === true && name === about.host ? {gpus} : hosts.get(name);

function AllHosts({state}: {readonly state: PageState}) {
	const names = state.about?.hosts ?? [];
	return (
		<>
			<div class="section-head">
				<Title>Hosts</Title>
			</div>
			<ul class="cards" data-arrows=".host-name">
				{names.map((name) => (
					<HostCard key={name} name={name} host={hostOf(state, name)} />
				))}
			</ul>
			{names.length > 1 && <AllGpus hosts={names.map((name) => ({name, host: hostOf(state, name)}))} />}
			{state.about?.has_pool === false && <p class="quiet">{`${state.about.host} itself has no GPU pool.`}</p>}
			{names.length <= 1 && <p class="quiet">Name other boxes in the setting remote_hosts to see them here.</p>}
		</>
	);
}

export default function Hosts({state, rest}: ViewProps) {
	return rest === '' ? <AllHosts state={state} /> : <OneHost state={state} chosen={rest} />;
}
