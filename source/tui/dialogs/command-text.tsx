import {createContext, use, type ReactElement} from 'react';
import {sanitize} from '../../format/text/text.js';
import {Paragraph} from './dialog-box.js';

export const CommandContext = createContext<string | undefined>(undefined);

/** Shows the shell command with the same effect, such as `$ canhazgpu release --gpu-ids 2`. */
export function CommandText(): ReactElement | undefined {
	const command = use(CommandContext);
	return command === undefined ? undefined : (
		<Paragraph tone="key" most={4} mostWhenLow={1}>
			{`$ ${sanitize(command)}`}
		</Paragraph>
	);
}
