/** The buttons and dialogs with which the page makes changes. Loaded only if the server permits changes. */
import {useLayoutEffect, useMemo, useRef, useState, useEffect} from 'preact/hooks';
import {actSlots} from '../slots.js';
import type {Gpu} from '../fields.js';
import {useObservable} from '../shared/hooks.js';
import type {PageState} from '../state/state.js';
import {Button, slotsOf, type ActContext} from './buttons.js';
import {Dialog} from './dialog.js';
import {askJoin, askReserve, type Offer, type Question} from './dialogs.js';
import {endSession, readLink, session, act, type Done, type Session} from './session.js';

const unsureUndoText = 'There was no answer. The GPUs show whether the release was undone.';

const leftText =
	'Your request has left the queue. The GPUs show whether it was granted. If not, see the events and the terminal of canhazgpu web --mine.';

/** Returns whether the entry has left the queue. The answer with its id can arrive before the queue that contains the entry. */
function useHasLeft(entryId: string | undefined, queue: PageState['queue']): boolean {
	const seen = useRef<string>(undefined);
	const isQueued = queue.some(({id}) => id === entryId);
	if (isQueued) {
		seen.current = entryId;
	}

	return entryId !== undefined && !isQueued && seen.current === entryId;
}

type UndoProps = {readonly undo: NonNullable<Done['undo']>; readonly show: (done: Done) => void};

function Undo({undo, show}: UndoProps) {
	const [isOffered, setOffered] = useState(true);
	useEffect(() => {
		const timer = setTimeout(() => {
			setOffered(false);
		}, undo.seconds * 1000);
		return () => {
			clearTimeout(timer);
		};
	}, []);

	async function send(): Promise<void> {
		setOffered(false);
		const answer = await act('undo', {id: crypto.randomUUID(), undo_id: undo.id});
		show(
			answer.kind === 'done'
				? answer.done
				: {words: answer.kind === 'unsure' ? unsureUndoText : [answer.words, answer.hint].filter(Boolean).join('. ')},
		);
		document.querySelector<HTMLElement>('#main')?.focus({preventScroll: true});
	}

	return isOffered ? (
		<button
			type="button"
			class="act-button"
			onClick={() => {
				void send();
			}}
		>
			Undo the release
		</button>
	) : undefined;
}

const sessionText = (state: Session, account: string): string => {
	switch (state.kind) {
		case 'open': {
			return `This page acts as ${account}.`;
		}

		case 'opening': {
			return 'Opening the link…';
		}

		case 'refused': {
			return state.words;
		}

		case 'none': {
			return `To act as ${account}, open this page with the link that canhazgpu web --mine prints. Press Enter there for another link.`;
		}
	}
};

type ActProps = {readonly state: PageState; readonly account: string};

/** Returns the maximum number of GPUs in one reservation. On a cluster, a reservation has GPUs of only one node. */
const mostGpus = (gpus: readonly Gpu[]): number =>
	Math.max(
		0,
		...Map.groupBy(gpus, ({node}) => node)
			.values()
			.map(({length}) => length),
	);

const offerOf = ({about, gpus}: PageState): Offer => ({
	gpuCount: mostGpus(gpus) - (about?.mig?.split ?? 0),
	mig: about?.mig,
	hasShares: about?.offers_shares,
	usualSeconds: about?.usual_seconds,
	keepTime: about?.keep_time,
	lacks: about?.lacks && new Set(about.lacks),
	models: gpus.flatMap(({gpu_model: model}) => model ?? []),
});

export default function Act({state, account}: ActProps) {
	const current = useObservable(session);
	const [question, setQuestion] = useState<Question | undefined>(undefined);
	const [done, setDone] = useState<Done>({words: ''});
	const hasLeft = useHasLeft(done.entry_id, state.queue);
	const opener = useRef<Element | undefined>(null);
	const context = useRef<ActContext>(undefined as never);
	/** The latest question for a dialog, even if that dialog has not been drawn yet. */
	const asked = useRef<Question>(undefined);
	const ask = (next: Question): void => {
		opener.current ??= document.activeElement;
		asked.current = next;
		setQuestion(next);
	};

	context.current = {gpus: state.gpus, account, offer: offerOf(state), ask};
	const slots = useMemo(() => slotsOf(() => context.current), []);
	const isOpen = current.kind === 'open';
	useLayoutEffect(() => {
		readLink();
		addEventListener('hashchange', readLink);
		return () => {
			removeEventListener('hashchange', readLink);
		};
	}, []);
	useLayoutEffect(() => {
		actSlots.set(isOpen ? slots : undefined);
		if (!isOpen) {
			// Results of one session are not shown in the next session.
			setDone({words: ''});
		}
	}, [isOpen, slots]);
	return (
		<section class="act-bar" aria-label="Acting" data-kind={current.kind}>
			<p class="act-words" role="status">
				{sessionText(current, account)}
			</p>
			{isOpen && (
				<div class="act-row">
					<Button
						words="Reserve"
						about="any GPUs"
						pressed={() => {
							ask(askReserve(undefined, context.current.offer));
						}}
					/>
					<Button
						words="Wait"
						about="in the queue for GPUs"
						pressed={() => {
							ask(askJoin(undefined, context.current.offer));
						}}
					/>
					<button
						type="button"
						class="text-button"
						onClick={() => {
							void endSession();
						}}
					>
						End session
					</button>
				</div>
			)}
			<p class="act-done" role="status">
				{hasLeft ? leftText : done.words}
			</p>
			{isOpen && done.undo !== undefined && <Undo key={done.undo.id} undo={done.undo} show={setDone} />}
			{question !== undefined && (
				<Dialog
					key={question}
					question={question}
					ask={ask}
					close={(next) => {
						if (next !== undefined) {
							setDone(next);
						}

						// The close event arrives late, so another dialog may already be open.
						if (asked.current !== question) {
							return;
						}

						asked.current = undefined;
						setQuestion(undefined);
						if (opener.current instanceof HTMLElement && opener.current.isConnected) {
							opener.current.focus();
						} else {
							document.querySelector<HTMLElement>('#main')?.focus();
						}

						opener.current = null;
					}}
				/>
			)}
		</section>
	);
}
