/*
Collects the licenses of the bundled packages, which must be distributed with the program.
*/
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';

/** Names of files with the license of a package, or notices that belong to it. */
const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** A file with the licenses of further packages that a package has bundled. meow has this file. */
const innerLicences = 'build/licenses.md';

/** Returns the folder of the package that contains a file, such as `node_modules/a/node_modules/@b/c`. Undefined for a file of this repository. */
const packageOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

const authorOf = ({author, name}) => (typeof author === 'object' ? author.name : author) ?? `the authors of ${name}`;

/** Returns the MIT license for a package that declares it but contains no license text. */
function textOfMit(description, root) {
	const own = readFileSync(path.join(root, 'license'), 'utf8');
	return own.replace(/^Copyright .*$/m, `Copyright (c) ${authorOf(description)}`).trim();
}

function noticeOf(folder, root) {
	const description = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
	const {name, version, license} = description;
	const texts = readdirSync(folder)
		.filter((file) => licenceFile.test(file))
		.sort()
		.concat(existsSync(path.join(folder, innerLicences)) ? [innerLicences] : [])
		.map((file) => readFileSync(path.join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
	if (texts.length === 0 && license !== 'MIT') {
		throw new Error(`${name} ${version} brings no text of its licence (${license})`);
	}

	return {title: `${name} ${version}`, license, text: texts.join('\n\n') || textOfMit(description, root)};
}

const rule = '='.repeat(80);

/**
@param files - The bundled files, by their paths within `root`.
@param root - The folder of this repository.
@throws Error for a package without the text of its licence.
*/
export function noticesOf(files, root) {
	const folders = new Set(files.flatMap((file) => packageOf(file) ?? []));
	const notices = new Map(
		[...folders].map((folder) => noticeOf(path.join(root, folder), root)).map((notice) => [notice.title, notice]),
	);
	const sections = [...notices.keys()].sort().map((title) => {
		const {license, text} = notices.get(title);
		return `${rule}\n${title} (${license})\n${rule}\n\n${text}\n`;
	});
	return `canhazgpu contains the packages below, each under its own licence.\n\n${sections.join('\n')}`;
}
