/* The topics, embedded as text when the program is built. */

declare module '*.md' {
	const text: string;
	export default text;
}
