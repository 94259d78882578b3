import { lookAhead } from '../../call/error-message.ts'
import { ownCopy } from '../../lib/remembered.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'

/** Text of a client or an upstream for a row: without credentials, and at most `longest` characters long. */
export function storedText(text: string, longest: number): string {
  const most = longest * lookAhead
  const looked = text.length > most ? ownCopy(text.slice(0, most)) : text
  // The part of a key before the cut is masked, too.
  const masked = maskKeys(looked, looked.length < text.length)
  if (masked.length <= longest) return masked
  return masked.slice(0, longest).replace(/\[(?:s(?:e(?:c(?:r(?:et?)?)?)?)?)?$/, '')
}
