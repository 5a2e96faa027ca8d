import {useEffect, useState} from 'preact/hooks';

export const CommandWords = ({command}: {readonly command: string}) => (
	<code>
		{command.split(' ').flatMap((word, index) => [
			index === 0 ? '' : ' ',
			<span key={index} class="command-word">
				{word}
			</span>,
		])}
	</code>
);

/** Copies a text. The clipboard API needs https or localhost. Elsewhere, an older command is used. */
async function copy(text: string): Promise<void> {
	if (isSecureContext) {
		await navigator.clipboard.writeText(text);
		return;
	}

	const field = document.createElement('textarea');
	field.value = text;
	// While a dialog is open, text can be selected only inside the dialog.
	(document.querySelector('dialog[open]') ?? document.body).append(field);
	field.select();
	// eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way without https
	const isCopied = document.execCommand('copy');
	field.remove();
	if (!isCopied) {
		throw new Error('The browser refused');
	}
}

const saidMs = 2000;

type CopyButtonProps = {
	readonly text: string;
	/** The name of the copied text, which completes the button's label for screen readers. */
	readonly what: string;
	readonly label?: string;
	readonly className?: string;
};

export function CopyButton({text, what, label = 'Copy', className = 'chip copy'}: CopyButtonProps) {
	const [said, setSaid] = useState<string>();
	useEffect(() => {
		const timer = said === undefined ? undefined : setTimeout(setSaid, saidMs, undefined);
		return () => {
			clearTimeout(timer);
		};
	}, [said]);
	const press = async (): Promise<void> => {
		try {
			await copy(text);
			setSaid('Copied');
		} catch {
			setSaid('Not copied');
		}
	};

	return (
		<button
			type="button"
			class={className}
			aria-label={said ?? `${label} ${what}`}
			aria-live="polite"
			onClick={() => {
				void press();
			}}
		>
			{said ?? label}
		</button>
	);
}
