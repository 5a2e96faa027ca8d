/* The files of the page, embedded as text when the program is built. */

declare module '*.html' {
	const text: string;
	export default text;
}

declare module '*.css' {
	const text: string;
	export default text;
}

declare module '*.page.js' {
	const text: string;
	export default text;
}

declare module '*.esm.js' {
	const text: string;
	export default text;
}

declare module '*.svg' {
	const text: string;
	export default text;
}
