/**
Cuts absurdly long text, without leaving half a character.
*/
export const cap = (text: string, length: number): string => text.slice(0, length).replace(/\p{Surrogate}$/v, '');
