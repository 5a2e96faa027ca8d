/**
The background color of a box that hides the panels behind it. Ink fills such a box with blanks. Ink does not know this color name, so it uses the
terminal's own background. A test fails if Ink changes this.
*/
export const opaque = 'default';
