import { randomInt } from 'node:crypto'

const letters = 'abcdefghjkmnpqrstvwxyz0123456789'
const length = 8

/** A name for one run of a gateway: it marks its rows, its journal and its `Via`. */
export function newInstance(): string {
  return Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('')
}
