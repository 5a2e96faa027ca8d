import type {DataLoss} from '../core/model/types.js';

export function dataLossText({restoredAt, readAt}: DataLoss, formatTime: (seconds: number) => string): string {
	const read = formatTime(readAt);
	return `The store lost its data. It was restored at ${formatTime(restoredAt)} from a copy made at ${read}, so everything reserved, released or changed after ${read} is lost`;
}
