/** The line that makes GPUs a shell's own, and the way into the user's clipboard. */
import {Buffer} from 'node:buffer';

export const exportLine = (gpus: readonly number[]): string => `export CUDA_VISIBLE_DEVICES=${gpus.join(',')}`;

/**
What a terminal takes for "put this into the clipboard" (OSC 52). It goes through ssh; many terminals know it, and none tells whether it
does. Tmux takes it for itself, or, where it is allowed to, hands on what is wrapped for it: so it gets both.
*/
export function clipboardSequence(text: string, isInTmux: boolean): string {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	return isInTmux ? `${sequence}\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\` : sequence;
}
