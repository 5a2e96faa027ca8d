/** A shell command that breaks between its words, and not behind the dashes of a flag. */
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
