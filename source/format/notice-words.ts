import type {PersonalNotice} from '../core/reminders.js';
import {shortDuration} from './durations.js';
import {sanitize} from './text.js';

const gpuWords = (gpus: readonly number[]): string => `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;

/** One line that tells an account what concerns it, and what it can do. */
export function noticeWords({kind, gpus, remainingSeconds = 0, note}: PersonalNotice, hostname: string): string {
	const about = note === undefined ? '' : ` (${sanitize(note)})`;
	const where = `canhazgpu on ${sanitize(hostname)}:`;
	return kind === 'ending'
		? `${where} your reservation of ${gpuWords(gpus)}${about} ends in ${shortDuration(remainingSeconds)}. To keep it: canhazgpu extend --gpu-ids ${gpus.join(',')} --duration 1h`
		: `${where} ${gpuWords(gpus)}${about}, which you waited for, ${gpus.length === 1 ? 'is' : 'are'} yours now`;
}
