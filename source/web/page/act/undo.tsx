/** Takes a release back, for as long as the server offers it. */
import {useEffect, useState} from 'preact/hooks';
import {act, type Done} from './session.js';

const unsureText = 'No answer came: the GPUs show whether the release was undone.';

type UndoProps = {readonly undo: NonNullable<Done['undo']>; readonly show: (done: Done) => void};

export function Undo({undo, show}: UndoProps) {
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
				: {words: answer.kind === 'unsure' ? unsureText : [answer.words, answer.hint].filter(Boolean).join('. ')},
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
