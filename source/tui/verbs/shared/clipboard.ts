/** The way into the user's clipboard. */
import {Buffer} from 'node:buffer';
import type {EffectContext} from '../verb.js';

/**
What a terminal takes for "put this into the clipboard" (OSC 52). It goes through ssh; many terminals know it, and none tells whether it
does. Tmux takes it for itself, or, where it is allowed to, hands on what is wrapped for it: so it gets both.
*/
export function toClipboard({ports, writeTerminal}: EffectContext, text: string): void {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	const wrapped = `\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\`;
	writeTerminal(ports.isInTmux === true ? sequence + wrapped : sequence);
}
