import {sizeText} from '../core/rules/request/memory-size.js';
import type {Reminder} from '../core/rules/notices/reminder.js';
import {clockTime} from './text/days.js';
import {shortDuration, typedDuration} from './text/durations.js';
import {gpuList, gpuRanges} from './text/gpu-list.js';
import {counted} from './text/numbers.js';
import {sanitize} from './text/text.js';

export function reminderText(
	{
		kind,
		gpus,
		leaseId,
		isAmongOthers = false,
		remainingSeconds = 0,
		memoryMiB = 0,
		usedMiB = 0,
		idle,
		beyondLimit,
		parked,
		reclaimed,
		note,
		owner,
	}: Reminder,
	hostname: string,
): string {
	const about = note === undefined ? '' : ` (${sanitize(note)})`;
	const where = `canhazgpu on ${sanitize(hostname)}:`;
	if (kind === 'overuse') {
		return `${where} your share of ${gpuList(gpus)}${about} uses ${sizeText(usedMiB)} of its memory, but reserved ${sizeText(memoryMiB)}. Others share the GPU: use less, or restart with --share ${sizeText(usedMiB)}`;
	}

	if (kind === 'squatter') {
		const whose = owner === undefined ? 'without a reservation' : `reserved by ${sanitize(owner)}`;
		const way =
			owner === undefined
				? 'To reserve what it uses: canhazgpu reserve --pid PID'
				: 'Please end it, or wait in the queue';
		return `${where} a process of yours uses ${gpuList(gpus)}, ${whose}. To find it: canhazgpu who ${gpuRanges(gpus)}. ${way}`;
	}

	if (kind === 'idle' && idle !== undefined) {
		const {since, deadline, now, keepSeconds} = idle;
		const isOne = gpus.length === 1;
		const back = deadline > now ? `at ${clockTime(deadline, now)}` : 'soon';
		return `${where} your reservation of ${gpuList(gpus)}${about} has been idle since ${clockTime(since, now)}. ${isOne ? 'The GPU goes' : 'The GPUs go'} back to the pool ${back} unless used. To keep ${isOne ? 'it' : 'them'}: canhazgpu extend --gpu-ids ${gpuRanges(gpus)} --keep ${typedDuration(keepSeconds)}`;
	}

	if (kind === 'beyond-limit' && beyondLimit !== undefined) {
		const {mostGpus, deadline, now} = beyondLimit;
		const back = deadline > now ? `at ${clockTime(deadline, now)}` : 'soon';
		return `${where} you hold more than your limit of ${counted(mostGpus, 'GPU')}, and somebody else is waiting. Your reservation of ${gpuList(gpus)}${about} goes back to the pool ${back}. Stop what runs there before then. To release it now: canhazgpu release --gpu-ids ${gpuRanges(gpus)}`;
	}

	if (kind === 'parked' && parked !== undefined) {
		const {since, now} = parked;
		return `${where} your reservation of ${gpuList(gpus)}${about} has held memory without any load since ${clockTime(since, now)}. It is not taken from you. If you do not need it: canhazgpu release --gpu-ids ${gpuRanges(gpus)}`;
	}

	if (kind === 'reclaimed' && reclaimed !== undefined) {
		const {reason, endedAt, now} = reclaimed;
		const why =
			reason === 'reclaimed' ? 'because it was idle' : 'because it was beyond your limit and somebody else waited';
		return `${where} your reservation of ${gpuList(gpus)}${about} went back to the pool at ${clockTime(endedAt, now)}, ${why}. No process was ended. To reserve again: canhazgpu reserve --gpus ${gpus.length}`;
	}

	const lease = isAmongOthers && leaseId !== undefined ? ` --lease ${sanitize(leaseId)}` : '';
	return kind === 'ending'
		? `${where} your reservation of ${gpuList(gpus)}${about} ends in ${shortDuration(remainingSeconds)}. To keep it: canhazgpu extend --gpu-ids ${gpuRanges(gpus)}${lease} --duration 1h`
		: `${where} ${gpuList(gpus)}${about}, which you waited for, ${gpus.length === 1 ? 'is' : 'are'} yours now`;
}
