import { maskKeys } from '../../lib/key-shapes.ts'

/** Longest error message that is kept, in characters. */
const longestMessage = 500
/** So much of a message is looked at. */
const longestLook = longestMessage * 4

/** An upstream's error message fit to be stored: no credential in it, and not long. */
export function maskSecrets(message: string): string {
  // Where the message is cut before it is looked at, what a key has left of itself there is masked, too.
  return maskKeys(message.slice(0, longestLook), message.length > longestLook)
    .slice(0, longestMessage)
    .replace(/\[(?:s(?:e(?:c(?:r(?:et?)?)?)?)?)?$/, '')
}
