import { isUtf8 } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { RecentMap } from '../../lib/recent-map.ts'
import { storedText } from '../recorder/stored-text.ts'

const longestLabel = 200
/** Longest name of a model, and of what else an answer says. */
const longestWord = 512

/** Who a call comes from, in words that may be stored: never a credential itself. */
export class ClientLabels {
  readonly #fingerprints: RecentMap<string | null>
  readonly #products = new RecentMap<string>(productOf)
  readonly #texts = new RecentMap<string>((text) => storedText(text, longestWord))
  readonly #headers = new RecentMap<string>(headerText)

  /** `salt` belongs to the installation, so that a fingerprint says nothing about the key elsewhere. */
  constructor(salt: Uint8Array) {
    this.#fingerprints = new RecentMap((credential) => {
      const key = credential.replace(/^bearer(\s+|$)/i, '')
      return key === '' ? null : createHmac('sha256', salt).update(key).digest('hex').slice(0, 8)
    })
  }

  /** 8 hexadecimal digits that tell credentials apart, `null` for none; `Bearer` and its absence make no difference. */
  fingerprint(credential: string): string | null {
    return this.#fingerprints.get(credential)
  }

  /** A word of a body, such as a model's name, without credentials and cut to a length that a table can hold. */
  text(chosen: string): string {
    return this.#texts.get(chosen)
  }

  /** A path or a header's value in the same way; `null` where it is empty or there is none. */
  header(value: string | null): string | null {
    if (value === null || value === '') return null
    // A thousand long ones would take much memory, and do not repeat.
    return value.length > longestLabel ? headerText(value) : this.#headers.get(value)
  }

  /** The product that a user agent names first: `OpenAI/Python` of `OpenAI/Python 1.109.1`. */
  product(userAgent: string): string {
    return this.#products.get(userAgent)
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
