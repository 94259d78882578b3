import { isUtf8 } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { remembered } from '../../lib/remembered.ts'
import { storedText } from '../recorder/stored-text.ts'

const longestLabel = 200
/** Longest name of a model, and of what else an answer says. */
const longestWord = 512

/** Who a call comes from, in words that may be stored: never a credential itself. */
export class ClientLabels {
  /** 8 hexadecimal digits that tell credentials apart, `null` for none; `Bearer` and its absence make no difference. */
  readonly fingerprint: (credential: string) => string | null
  /** A word of a body, such as a model's name, without credentials and cut to a length that a table can hold. */
  readonly text: (chosen: string) => string = remembered((text) => storedText(text, longestWord))
  /** The product that a user agent names first: `OpenAI/Python` of `OpenAI/Python 1.109.1`. */
  readonly product: (userAgent: string) => string = remembered(productOf)
  readonly #header = remembered(headerText, longestLabel)

  /** `salt` belongs to the installation, so that a fingerprint says nothing about the key elsewhere. */
  constructor(salt: Uint8Array) {
    this.fingerprint = remembered((credential) => {
      const key = credential.replace(/^bearer(\s+|$)/i, '')
      return key === '' ? null : createHmac('sha256', salt).update(key).digest('hex').slice(0, 8)
    })
  }

  /** A path or a header's value in the same way; `null` where it is empty or there is none. */
  header(value: string | null): string | null {
    return value === null || value === '' ? null : this.#header(value)
  }
}

/** Node gives a header's bytes as Latin-1; where they are UTF-8, that is what the client meant. */
function asText(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : header
}

function headerText(value: string): string {
  return storedText(asText(value), longestLabel)
}

function productOf(userAgent: string): string {
  const first = userAgent.trim().split(/\s+/, 1)[0] ?? ''
  return storedText(first.replace(/\/v?\d[^/]*$/, ''), longestLabel)
}
