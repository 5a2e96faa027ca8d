/*
The licences of the packages that are bundled, as their authors want them to be passed on.
*/
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';

/** Files in which a package keeps its licence, and notices that belong to it. */
const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** The licences of the packages inside a package that is itself a bundle. meow has this file. */
const innerLicences = 'build/licenses.md';

/** Returns the folder of a file's package, such as `node_modules/a/node_modules/@b/c`, or undefined for a file of our own. */
const packageOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

const authorOf = ({author, name}) => (typeof author === 'object' ? author.name : author) ?? `the authors of ${name}`;

/** Some packages name the MIT licence and bring no text of it. */
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
