/** Most characters of an error message in a row. */
export const longestMessage = 500

/** Masking reads this multiple of the kept length, because masks shorten the text. */
export const lookAhead = 4

/** Longest message; the last character of a longer one shows that it was cut. */
export const longestLooked = lookAhead * longestMessage + 1
