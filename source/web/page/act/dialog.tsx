import {useId, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {CopyButton, CommandWords} from '../shared/copy.js';
import type {Question, Values} from './dialogs.js';
import {act, type Answer, type Done} from './session.js';

type Status =
	| {readonly kind: 'asking' | 'sending'}
	| {
			readonly kind: 'failed';
			readonly words: string;
			readonly hint: string | undefined;
			readonly isUnavailable: boolean;
	  }
	/** The request was not answered, so its outcome is unknown. The same request can be sent again. */
	| {readonly kind: 'unsure'};

const presets = ({fields}: Question): Values => Object.fromEntries(fields.map(({name, preset}) => [name, preset]));

const withValues = (question: Question, values: Values): Question => ({
	...question,
	fields: question.fields.map((field) => ({...field, preset: values[field.name] ?? field.preset})),
});

const otherServerText = 'The server has stopped, so the outcome is unknown. Check the GPUs and the queue.';

const unsureText =
	'There was no answer, so the outcome is unknown. It is safe to try again, because the action is done only once. Or check the GPUs first.';

const unansweredText = 'There was no answer yet, so the outcome is unknown. Check the GPUs and the queue.';

type FieldProps = {
	readonly field: Question['fields'][number];
	readonly value: string;
	readonly isDisabled: boolean;
	readonly change: (value: string) => void;
};

function FieldInput({field: {name, kind, hint, most}, value, isDisabled, change}: FieldProps) {
	const common = {name, disabled: isDisabled, autocomplete: 'off', placeholder: hint} as const;
	const hear = ({currentTarget}: {readonly currentTarget: HTMLInputElement}): void => {
		change(kind === 'check' ? (currentTarget.checked ? 'yes' : '') : currentTarget.value);
	};

	switch (kind) {
		case 'check': {
			return <input {...common} type="checkbox" checked={value !== ''} onInput={hear} />;
		}

		case 'count': {
			return <input {...common} type="number" min={1} max={most} required value={value} onInput={hear} />;
		}

		case 'duration':
		case 'text': {
			return <input {...common} type="text" required={kind === 'duration'} value={value} onInput={hear} />;
		}
	}
}

type DialogProps = {
	readonly question: Question;
	readonly ask: (question: Question) => void;
	/** Called when the dialog is closed. `done` has the outcome to show. It is undefined if the user cancelled. */
	readonly close: (done?: Done) => void;
};

export function Dialog({question, ask, close}: DialogProps) {
	const element = useRef<HTMLDialogElement>(null);
	const [values, setValues] = useState(() => presets(question));
	const [status, setStatus] = useState<Status>({kind: 'asking'});
	/** The id of the request. It is kept until the outcome is known, so that a repeated request is carried out only once. */
	const attempt = useRef<string | undefined>(undefined);
	const alert = useRef<HTMLDivElement>(null);
	const id = useId();
	const command = question.command(values);
	const isSending = status.kind === 'sending';
	useLayoutEffect(() => {
		element.current?.showModal();
	}, []);
	useLayoutEffect(() => {
		// Scrolls, because the buttons at the lower edge must not cover the outcome.
		alert.current?.scrollIntoView({block: 'nearest'});
	}, [status]);

	function show(answer: Answer, wasUnsure: boolean): void {
		if (answer.kind === 'unsure') {
			setStatus({kind: 'unsure'});
			return;
		}

		attempt.current = undefined;
		if (answer.kind === 'done') {
			close(answer.done);
		} else {
			const {words, hint, code} = answer;
			// A refusal without a code may come from another server, so it does not show what happened to the earlier request.
			const isOther = wasUnsure && code === undefined;
			setStatus({
				kind: 'failed',
				words: isOther ? otherServerText : words,
				hint: isOther ? undefined : hint,
				isUnavailable: code === 'unavailable',
			});
		}
	}

	function leave(): void {
		// The server may still carry out a request that has no answer.
		close(attempt.current === undefined ? undefined : {words: unansweredText});
	}

	async function send(): Promise<void> {
		const wasUnsure = attempt.current !== undefined;
		attempt.current ??= crypto.randomUUID();
		setStatus({kind: 'sending'});
		show(await act(question.act, {id: attempt.current, ...question.request(values)}), wasUnsure);
	}

	return (
		<dialog
			ref={element}
			class="act-dialog"
			aria-labelledby={`${id}-title`}
			onClose={leave}
			onKeyDown={(event) => {
				// Escape must close only the dialog, and nothing behind it.
				event.stopPropagation();
			}}
		>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					if (!isSending) {
						void send();
					}
				}}
			>
				<h2 id={`${id}-title`}>{question.title}</h2>
				{question.about.map((words) => (
					<p key={words} class="quiet">
						{words}
					</p>
				))}
				{question.fields.map((field) => (
					<label key={field.name} class="act-field" data-kind={field.kind}>
						<span>{field.label}</span>
						<FieldInput
							field={field}
							value={values[field.name] ?? ''}
							// A request without an answer can only be repeated unchanged.
							isDisabled={isSending || status.kind === 'unsure'}
							change={(value) => {
								setValues({...values, [field.name]: value});
							}}
						/>
					</label>
				))}
				<p class="act-command">
					<CommandWords command={command} />
					<CopyButton text={command} what="the command" className="text-button" />
				</p>
				<div ref={alert} role="alert" class="act-alert">
					{status.kind === 'failed' && (
						<p class="act-problem">
							<strong>{status.words}</strong> {status.hint}
						</p>
					)}
					{status.kind === 'unsure' && <p class="act-problem">{unsureText}</p>}
				</div>
				<div class="act-buttons">
					<button type="button" class="act-button" onClick={leave}>
						{status.kind === 'unsure' ? 'Close' : (question.dismiss ?? 'Cancel')}
					</button>
					{status.kind === 'failed' && status.isUnavailable && question.otherwise !== undefined && (
						<button
							type="button"
							class="act-button"
							onClick={() => {
								ask(withValues(question.otherwise!, values));
							}}
						>
							Wait in the queue…
						</button>
					)}
					<button type="submit" class="act-button" data-main aria-disabled={isSending}>
						{isSending ? 'Sending…' : status.kind === 'unsure' ? 'Ask again' : question.submit}
					</button>
				</div>
			</form>
		</dialog>
	);
}
