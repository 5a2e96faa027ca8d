/** The page as the bundler made it (.config/page.ts), embedded when the program is built. */
import {promisify} from 'node:util';
import {brotliCompress, gzip} from 'node:zlib';
import type files from '../page/index.html';

export type PageFile = (typeof files)[number];

/** Codings in which a file is sent, the smallest first. Browsers take Brotli only by https or from their own machine. */
export const codings = ['br', 'gzip'] as const;

type Coding = (typeof codings)[number];

const compressors = {br: promisify(brotliCompress), gzip: promisify(gzip)} as const satisfies Readonly<
	Record<Coding, (text: Uint8Array) => Promise<Uint8Array>>
>;
const compressed = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

const compress = async ({text}: PageFile, coding: Coding): Promise<Uint8Array<ArrayBuffer>> =>
	new Uint8Array(await compressors[coding](new TextEncoder().encode(text)));

/** A file in a coding. Made once each, when it is asked for. */
export async function compressedFile(file: PageFile, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
	const key = `${coding} ${file.path}`;
	const made = compressed.get(key) ?? compress(file, coding);
	compressed.set(key, made);
	return made;
}

export {default as pageFiles} from '../page/index.html';
