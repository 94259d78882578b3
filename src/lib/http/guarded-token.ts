import { isLoopbackAddress } from './request-source.ts'
import { SecretToken } from '../secret-token.ts'

/** The source of a guess. */
export interface GuessSource {
  readonly address: string | undefined
  /** True if the request seems to come through a proxy, so that its sender is unknown. */
  readonly forwardedFor: boolean
}

const windowMs = 60_000
const mostOfOne = 10
const mostOfStrangers = 60
const thisMachine = 'this machine'

/**
 * A secret that clients must send, with limited guesses. In any minute only so many wrong guesses of one
 * address, and of all other machines together, are checked; further guesses are refused. Requests of this
 * machine, not through a proxy, are counted separately, so that no stranger can lock the owner out.
 */
export class GuardedToken {
  readonly #secret: SecretToken
  readonly #nowMs: () => number
  /** Wrong guesses of the last minute, up to the limit. */
  #wrong: readonly { readonly from: string; readonly atMs: number }[] = []

  /** `nowMs` is a monotonic clock. */
  constructor(secret: string, nowMs: () => number) {
    this.#secret = new SecretToken(secret)
    this.#nowMs = nowMs
  }

  matches(guess: string | null | undefined, source: GuessSource): boolean {
    if (typeof guess !== 'string' || this.waitMs(source) > 0) return false
    if (this.#secret.matches(guess)) return true
    this.#wrong = [...this.#wrong, { from: nameOf(source), atMs: this.#nowMs() }]
    return false
  }

  /** Milliseconds until a guess of this source is checked; 0 for now. */
  waitMs(source: GuessSource): number {
    const nowMs = this.#nowMs()
    const from = nameOf(source)
    this.#wrong = this.#wrong.filter(({ atMs }) => nowMs - atMs < windowMs)
    const fromHere = this.#wrong.filter((guess) => guess.from === from)
    const strangers = from === thisMachine ? [] : this.#wrong.filter((guess) => guess.from !== thisMachine)
    return Math.max(waitFor(fromHere, mostOfOne, nowMs), waitFor(strangers, mostOfStrangers, nowMs))
  }
}

function waitFor(wrong: readonly { readonly atMs: number }[], most: number, nowMs: number): number {
  const first = wrong.at(-most)
  return first === undefined ? 0 : first.atMs + windowMs - nowMs
}

function nameOf({ address = '', forwardedFor }: GuessSource): string {
  return isLoopbackAddress(address) && !forwardedFor ? thisMachine : `${address} ${forwardedFor}`
}
