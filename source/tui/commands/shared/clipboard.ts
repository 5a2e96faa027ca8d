import {Buffer} from 'node:buffer';
import type {EffectContext} from '../command.js';

/**
Copies text to the clipboard with the escape sequence OSC 52. It works over ssh and in many terminals, but none of them confirms the copy. Tmux either
handles the sequence itself or passes on a wrapped sequence, depending on its settings, so both forms are sent.
*/
export function toClipboard({ports, writeTerminal}: EffectContext, text: string): void {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	const wrapped = `\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\`;
	writeTerminal(ports.isInTmux === true ? sequence + wrapped : sequence);
}
