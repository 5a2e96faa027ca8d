/**
Background of a box that hides the panels behind it. Ink fills a box with blanks in its background color. For this unknown color name, Ink
falls back to the terminal's own background. A test fails if that changes.
*/
export const opaque = 'default';
