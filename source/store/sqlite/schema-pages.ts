/**
Checks the first page of a database before SQLite opens it, because SQLite always reads the whole list of tables, which begins on it. In databases of
this program, the list fits into the first page. A list that continues on other pages was written by somebody else, and could be circular, so that
SQLite would read it forever.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, lstatSync, openSync, readSync} from 'node:fs';
import {changedByHand, databaseProblem} from './failures.js';

/** The offset of the page type in the first page, after the file header. */
const kindOffset = 100;

/** The type of a leaf page, which contains the rows themselves (SQLite's file format, "B-tree Pages"). */
const leafOfTable = 13;

const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/** Maximum length of the journal, in pages. The journal is emptied after each change, so it contains at most the change of one killed process. */
const mostFrames = 20_000;

const magic = Buffer.from('SQLite format 3\0');

const bytes = Buffer.alloc(kindOffset + 1);

function withFile<Result>(path: string, work: (descriptor: number) => Result): Result | undefined {
	let descriptor: number;
	try {
		descriptor = openSync(path, constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK);
	} catch {
		// SQLite will report the problem.
		return undefined;
	}

	try {
		return work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Whether the copy of the first page at this position is a leaf. True for anything that is not a database, which SQLite will report. */
const isLeafAt = (descriptor: number, position: number): boolean =>
	readSync(descriptor, bytes, 0, bytes.length, position) < bytes.length ||
	!bytes.subarray(0, magic.length).equals(magic) ||
	bytes[kindOffset] === leafOfTable;

/** Whether all copies of the first page in the journal are leaves. */
const isLeafInJournal = (descriptor: number): boolean => {
	if (readSync(descriptor, bytes, 0, walHeaderBytes, 0) < walHeaderBytes) {
		return true;
	}

	const frameBytes = frameHeaderBytes + bytes.readUInt32BE(8);
	for (let frame = 0; frame < mostFrames; frame++) {
		const position = walHeaderBytes + frame * frameBytes;
		if (readSync(descriptor, bytes, 0, 4, position) < 4) {
			return true;
		}

		if (bytes.readUInt32BE() === 1 && !isLeafAt(descriptor, position + frameHeaderBytes)) {
			return false;
		}
	}

	return false;
};

/** Throws if the list of tables does not fit into the first page. Must run before SQLite opens the file: closing it here would end SQLite's locks. */
export function checkSchemaPages(path: string): void {
	const journal = `${path}-wal`;
	const hasJournal = (lstatSync(journal, {throwIfNoEntry: false})?.size ?? 0) > 0;
	const isShort =
		withFile(path, (descriptor) => isLeafAt(descriptor, 0)) !== false &&
		(!hasJournal || withFile(journal, isLeafInJournal) !== false);
	if (!isShort) {
		throw databaseProblem(path, ['has a list of tables that canhazgpu did not make', changedByHand]);
	}
}
