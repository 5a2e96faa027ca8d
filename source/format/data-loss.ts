import type {DataLoss} from '../core/model/types.js';

export function dataLossText({restoredAt, readAt}: DataLoss, formatTime: (seconds: number) => string): string {
	const read = formatTime(readAt);
	return `The store lost its data; restored at ${formatTime(restoredAt)} from data read at ${read}: everything reserved, released or changed after ${read} is lost`;
}
