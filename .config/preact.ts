/*
Makes Preact smaller while the page is bundled: from its source goes what this page never does, which is a quarter of it. The page draws once
into an empty body, and so hydrates nothing. It has no suspense, portal, context or error boundary, no markup in strings and no MathML, and of
a class component only the methods for mounting, updating and the end.
*/
import {globSync, readFileSync} from 'node:fs';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../node_modules/preact');

/** The source of Preact, in the place of what it publishes. */
export const preactAliases = {
	'preact/hooks': `${folder}/hooks/src/index.js`,
	preact: `${folder}/src/index.js`,
};

/** By the file: the first and the last words of what is taken out, and what stands in its place. */
const cuts: Readonly<Record<string, ReadonlyArray<readonly [first: string, last: string, instead?: string]>>> = {
	'render.js': [
		['\tlet isHydrating =', ';'],
		['oldVNode\n\t\t\t? NULL', ': NULL,'],
	],
	'component.js': [
		['oldVNode._flags & MODE_HYDRATE ? [oldDom]', ','],
		['oldVNode._flags & MODE_HYDRATE', ','],
	],
	'diff/catch-error.js': [['for (;', 'error = e;\n\t\t\t}\n\t\t}\n\t}']],
	'diff/children.js': [
		['while (next && next.nodeType == 8)', ';'],
		['while (\n\t\t(oldDom = oldDom', ');', 'oldDom = oldDom.nextSibling;'],
	],
	'diff/props.js': [['name = name.replace(/xlink', ';']],
	'diff/index.js': [
		['if (\n\t\toldVNode._flags & MODE_SUSPENDED', '|| oldDom;\n\t}'],
		['tmp = newType.contextType;', ': globalContext;', 'const componentContext = globalContext;'],
		['if (provider)', ';'],
		['isHydrating = excessDomChildren = NULL', ';'],
		['if (resumed)', ';'],
		["else if (nodeType == 'math')", ';'],
		['isHydrating = false', ';'],
		['\t\texcessDomChildren = NULL', ';'],
		["excessDomChildren =\n\t\t\tnodeType == 'textarea'", ';'],
		["else if (i == 'dangerouslySetInnerHTML')", '}'],
		["if (i == 'dangerouslySetInnerHTML')", '} else'],
		["if (\n\t\t\t\tnodeType == 'foreignObject'", '}'],
		['if (\n\t\t!skipRemove', 'removeNode(r);\n\t}'],
	],
};

/** What is the same wherever it stands: the minifier takes out what hangs on it. */
const constants: ReadonlyArray<readonly [RegExp, string]> = [
	[/^\t+(?:isHydrating|excessDomChildren),$/gmv, ''],
	[/\b(?:isHydrating|excessDomChildren|newHtml|oldHtml)\b(?!;)/gv, 'false'],
	[/\b(?:newProps|\w+\.props)\._parentDom\b/gv, 'false'],
	[/\bnewType\.getDerivedStateFromProps\b/gv, 'false'],
	[/\bc\.(?:componentWillMount|componentWillReceiveProps|getChildContext|getSnapshotBeforeUpdate)\b/gv, 'false'],
];

const ownName = /\b_[a-z]\w*/gv;

/** Of the properties that are Preact's own, which are shortened where it is published, too. */
const ownNames = [
	...new Set(
		globSync('{src/**,hooks/src}/*.js', {cwd: folder}).flatMap(
			(file) => readFileSync(path.join(folder, file), 'utf8').match(ownName) ?? [],
		),
	),
].toSorted();

/**
@param id - A file of Preact's source.
@throws Error where the source has changed: nothing is left in by accident.
*/
export function smallPreact(code: string, id: string): string {
	let changed = code;
	for (const [first, last, instead = ''] of cuts[path.relative(`${folder}/src`, id)] ?? []) {
		const [before, rest, ...more] = changed.split(first);
		const end = rest?.indexOf(last) ?? -1;
		if (end === -1 || more.length > 0) {
			throw new Error(`${id}: Preact has changed, and .config/preact.ts has not. It looks for:\n${first}`);
		}

		changed = before! + instead + rest!.slice(end + last.length);
	}

	for (const [pattern, value] of constants) {
		changed = changed.replaceAll(pattern, value);
	}

	return changed.replaceAll(ownName, (name) => `_${ownNames.indexOf(name).toString(36)}`);
}
