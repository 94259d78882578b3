/** Most characters of an error message in a row. */
export const longestMessage = 500

/** Masking reads this multiple of the kept length, because masks shorten the text. */
export const lookAhead = 4

/** Characters of a message that are read for masking. The last one shows that a longer message was cut. */
export const longestLooked = lookAhead * longestMessage + 1
