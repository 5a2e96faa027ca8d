import type {Flag, KnownKind} from '../../command-line/command.js';

export const jsonFlag: Flag = {shortFlag: 'j', summary: 'print JSON'};

export const idsFlag = (completes: KnownKind): Flag => ({
	shortFlag: 'G',
	value: 'IDS',
	summary: 'only these GPUs or MIG instances, such as 1,3 or 0-3 or 0:1',
	isMultiple: true,
	completes,
});

export const labelFlag: Flag = {
	shortFlag: 'u',
	value: 'NAME',
	summary: 'only reservations under this name, if several people share this account',
	completes: 'labels',
	mayBeEmpty: true,
};

export const usualDurations: readonly string[] = ['30m', '1h', '2h', '4h', '8h', '12h', '1d', '2d'];
