/** The details of one GPU in a dialog, which has its own address: `#/gpu/2`. */
import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {GpuActions} from '../slots.js';
import {Chips} from '../shared/chips.js';
import type {About, Gpu} from '../fields.js';
import {route} from '../router.js';
import {addressOf, goBack, replaceRoute} from '../shared/address.js';
import type {Utilization} from '../state/state.js';
import {PersonName} from '../widgets.js';
import {CopyButton, CommandWords} from '../shared/copy.js';
import {Details, GpuTime, noteText, placeholders, StatePill} from './card.js';
import {shellCommands} from './commands.js';

const places = [
	['here', 'On the box'],
	['ssh', 'Over ssh'],
] as const;

type Place = (typeof places)[number][0];

function Commands({gpu, host}: {readonly gpu: Gpu; readonly host: string}) {
	const [place, setPlace] = useState<Place>('here');
	return (
		<section class="commands" aria-labelledby="commands-title">
			<div class="chart-head">
				<h3 id="commands-title">In a shell</h3>
				<Chips label="Where to run the commands" choices={places} chosen={place} choose={setPlace} />
			</div>
			<dl>
				{shellCommands(gpu, place === 'ssh' ? host : undefined).map(({does, command}) => (
					<div key={does} class="shell-command">
						<dt>{does}</dt>
						<dd>
							<CommandWords command={command} />
							<CopyButton text={command} what={command} />
						</dd>
					</div>
				))}
			</dl>
		</section>
	);
}

type Neighbour = {readonly label: string; readonly words: string; readonly gpu: Gpu | undefined};

/** A link to the previous or next GPU. The link replaces the address, so that the browser's back button still returns to the list. */
function Step({label, words, gpu}: Neighbour) {
	const rest = String(gpu?.gpu_id);
	return (
		gpu && (
			<a
				class="text-button"
				aria-label={label}
				href={addressOf({...route.get(), rest})}
				onClick={(event) => {
					event.preventDefault();
					replaceRoute({rest});
				}}
			>
				{words}
			</a>
		)
	);
}

type DrawerProps = {
	readonly about: About;
	readonly gpus: readonly Gpu[];
	readonly utilization: Utilization;
	/** The GPU index in the address, which may be any text. */
	readonly index: string;
};

const close = (): void => {
	goBack({rest: ''});
};

export default function Drawer({about, gpus, utilization, index}: DrawerProps) {
	const dialog = useRef<HTMLDialogElement>(null);
	const place = gpus.findIndex((gpu) => String(gpu.gpu_id) === index);
	const gpu = gpus[place];
	useLayoutEffect(() => {
		const shown = dialog.current!;
		shown.showModal();
		return () => {
			shown.close();
		};
	}, []);
	return (
		<dialog
			ref={dialog}
			class="drawer"
			aria-labelledby="drawer-title"
			data-state={gpu?.state}
			onKeyDown={(event) => {
				if (event.key === 'Escape') {
					// Escape must close only this dialog, and nothing behind it.
					event.stopPropagation();
				}
			}}
			onCancel={(event) => {
				event.preventDefault();
				close();
			}}
			onClick={({target}) => {
				// If the user clicks outside the dialog, the target of the event is the dialog itself.
				if (target === dialog.current) {
					close();
				}
			}}
		>
			<div class="drawer-body">
				<div class="drawer-head">
					<h2 id="drawer-title" tabindex={-1} autofocus>
						{gpu === undefined ? `There is no GPU ${index} here` : `GPU ${index}`}
					</h2>
					{gpu && <StatePill gpu={gpu} />}
					<span class="drawer-steps">
						<Step label="Previous GPU" words="←" gpu={gpus[place - 1]} />
						<Step label="Next GPU" words="→" gpu={gpu && gpus[place + 1]} />
						<CopyButton text={location.href} what="to this GPU" label="Copy link" />
						<button type="button" class="text-button" onClick={close}>
							Close
						</button>
					</span>
				</div>
				{gpu === undefined ? (
					<p class="time">
						{gpus.length === 0 ? 'No GPUs are known yet.' : `This pool has the GPUs 0 to ${gpus.length - 1}.`}
					</p>
				) : (
					<>
						<PersonName user={gpu.user} placeholder={placeholders[gpu.state]} />
						<GpuTime gpu={gpu} />
						<p class="drawer-note">{noteText(gpu)}</p>
						<GpuActions gpu={gpu} />
						<Commands gpu={gpu} host={about.host} />
						<Details key={index} gpu={gpu} utilization={utilization} />
					</>
				)}
			</div>
		</dialog>
	);
}
