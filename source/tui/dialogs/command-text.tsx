/** The shell command that does the same as the open dialog. */
import {createContext, use, type ReactElement} from 'react';
import {sanitize} from '../../format/text/text.js';
import {Paragraph} from './dialog-box.js';

/** The equivalent command of the open dialog; undefined where there is none. */
export const CommandContext = createContext<string | undefined>(undefined);

/** `$ canhazgpu release --gpu-ids 2`. */
export function CommandText(): ReactElement | undefined {
	const command = use(CommandContext);
	return command === undefined ? undefined : (
		<Paragraph tone="key" most={4} mostWhenLow={1}>
			{`$ ${sanitize(command)}`}
		</Paragraph>
	);
}
