/** The page as the bundler made and compressed it (.config/page.ts), embedded when the program is built. */
import {Buffer} from 'node:buffer';
import {gunzipSync} from 'node:zlib';
import type files from '../page/index.html';

export type PageFile = (typeof files)[number];

/** Codings in which a file is sent, the smallest first. Browsers take Brotli only by https or from their own machine. */
export const codings = ['br', 'gzip'] as const;

type Coding = (typeof codings)[number];

/** @param coding - Undefined: the file itself. */
export const bytesOf = (file: PageFile, coding: Coding | undefined): Uint8Array<ArrayBuffer> =>
	coding === undefined ? gunzipSync(Buffer.from(file.gzip, 'base64')) : Buffer.from(file[coding], 'base64');

export {default as pageFiles} from '../page/index.html';
