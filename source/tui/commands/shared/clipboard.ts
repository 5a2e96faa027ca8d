import {Buffer} from 'node:buffer';
import type {EffectContext} from '../command.js';

/**
Copies text to the clipboard with OSC 52. The sequence works over ssh and in many terminals, none of which confirms the copy.
Tmux may keep the sequence or pass on a wrapped one, so both forms are sent.
*/
export function toClipboard({ports, writeTerminal}: EffectContext, text: string): void {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	const wrapped = `\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\`;
	writeTerminal(ports.isInTmux === true ? sequence + wrapped : sequence);
}
