import { createHash, timingSafeEqual } from 'node:crypto'

/** A secret that clients must send. Memory has only its digest, and a comparison takes the same time for any guess. */
export class SecretToken {
  readonly #digest: Buffer

  constructor(secret: string) {
    this.#digest = digestOf(secret)
  }

  matches(guess: string | null | undefined): boolean {
    return typeof guess === 'string' && timingSafeEqual(digestOf(guess), this.#digest)
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
