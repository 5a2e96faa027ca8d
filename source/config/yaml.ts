/** Reads YAML within limits. Imported only if there is a YAML file, because the parser is slow to load. */
import {Composer, isScalar, Lexer, LineCounter, Parser, visit, type Document, type ErrorCode} from 'yaml';

/** A problem in a YAML file. The message has a line number and never quotes the file, which can contain a password. */
export class YamlProblem extends Error {
	constructor(what: string, line?: number) {
		super(line === undefined ? what : `line ${line}: ${what}`);
	}
}

/** Messages for frequent mistakes. The parser's own messages are not used, because they quote the file. */
const mistakes: Partial<Record<ErrorCode, string>> = {
	BAD_DQ_ESCAPE: String.raw`a \ in double quotes does not start a known escape sequence (write \\ for a backslash)`,
	BAD_INDENT: 'the indentation is wrong, or a bracket is not closed',
	BAD_SCALAR_START: 'text that begins with this character needs quotes',
	BLOCK_AS_IMPLICIT_KEY: 'there is a key inside a value: the indentation is wrong, or text with a colon needs quotes',
	BLOCK_IN_FLOW: 'there are indented lines inside brackets: write everything in the brackets with commas',
	MISSING_CHAR: 'a character is missing, such as a colon, a comma or a quote',
	MULTILINE_IMPLICIT_KEY: 'a key extends over several lines: a colon may be missing',
	TAB_AS_INDENT: 'there is a tab where YAML allows only spaces',
	UNEXPECTED_TOKEN: 'there is unexpected text',
};

/** Upper bound on YAML tokens. A large scenario file has a few thousand. */
const mostLexemes = 50_000;
const deepest = 100;
const mostAliases = 100;

/**
Refuses a text that is very long or deeply nested before the text is parsed, because the parser would take too much time and stack.
@yields The tokens for the parser.
*/
function* tokensOf(source: string, lines: LineCounter) {
	const parser = new Parser((offset) => {
		lines.addNewLine(offset);
	});
	let count = 0;
	for (const lexeme of new Lexer().lex(source)) {
		count++;
		if (count > mostLexemes) {
			throw new YamlProblem(`it has more than ${mostLexemes} words and punctuation marks`);
		}

		yield* parser.next(lexeme);
		if (parser.stack.length > deepest) {
			throw new YamlProblem('it is nested too deeply');
		}
	}

	yield* parser.end();
}

/** Checks aliases, which the parser does not check, and duplicate keys, for which the parser would need quadratic time. */
function checkNodes(document: Document, lineOf: (offset: number | undefined) => number | undefined): void {
	const anchors = new Set<string>();
	let aliasCount = 0;
	visit(document, {
		Node(_, node) {
			if ('anchor' in node && node.anchor !== undefined) {
				anchors.add(node.anchor);
			}
		},
		Alias(_, {source, range}) {
			aliasCount++;
			if (!anchors.has(source)) {
				throw new YamlProblem(
					'an alias that is not defined (text that begins with * needs quotes)',
					lineOf(range?.[0]),
				);
			}

			if (aliasCount > mostAliases) {
				throw new YamlProblem(`it has more than ${mostAliases} aliases`);
			}
		},
		Map(_, {items, range, anchor}) {
			// For a map, the visitor calls only this function and not `Node`, so anchors are collected here, too.
			if (anchor !== undefined) {
				anchors.add(anchor);
			}

			const seen = new Set<unknown>();
			for (const {key} of items) {
				if (!isScalar(key)) {
					throw new YamlProblem('a key is not text', lineOf(range?.[0]));
				}

				if (seen.has(key.value)) {
					throw new YamlProblem('a key appears twice', lineOf(key.range?.[0]));
				}

				seen.add(key.value);
			}
		},
	});
}

/** Parses one document. Returns null if it is empty. Aliases can make the value circular. Throws a YamlProblem with the line number. */
export function parseYaml(source: string): unknown {
	const lines = new LineCounter();
	lines.addNewLine(0);
	const lineOf = (offset: number | undefined) => (offset === undefined ? undefined : lines.linePos(offset).line);
	const composer = new Composer({logLevel: 'silent', uniqueKeys: false});
	const [document, second] = composer.compose(tokensOf(source, lines), true, source.length).take(2).toArray();
	if (document === undefined) {
		return null;
	}

	const [error] = document.errors;
	if (error !== undefined) {
		throw new YamlProblem(mistakes[error.code] ?? 'it is not valid', lineOf(error.pos[0]));
	}

	if (second !== undefined) {
		throw new YamlProblem('a second YAML document begins', lineOf(second.range[0]));
	}

	checkNodes(document, lineOf);
	try {
		return document.toJS() as unknown;
	} catch {
		throw new YamlProblem('it has too many aliases (*)');
	}
}
