import { isLoopbackAddress } from './request-source.ts'
import { SecretToken } from '../secret-token.ts'

/** The source of a guess. */
export interface GuessSource {
  readonly address: string | undefined
  /** True if a proxy seems to stand between the guesser and us: it may be anybody. */
  readonly forwardedFor: boolean
}

const windowMs = 60_000
const mostOfOne = 10
const mostOfStrangers = 60
const thisMachine = 'this machine'

/**
 * A secret that others have to bring, and may not guess for long: so many wrong guesses of one address, and of all strangers
 * together, are looked at in any minute. Beyond that a guess is wrong, whatever it is. Who asks on this machine, through no
 * proxy, is counted apart, so that no stranger keeps the owner out.
 */
export class GuardedToken {
  readonly #secret: SecretToken
  readonly #nowMs: () => number
  /** Wrong guesses of the last minute, up to the limit. */
  #wrong: readonly { readonly from: string; readonly atMs: number }[] = []

  /** `nowMs` of a clock that cannot be set. */
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

  /** How long until a guess from there is looked at: 0 for at once. */
  waitMs(source: GuessSource): number {
    const nowMs = this.#nowMs()
    const from = nameOf(source)
    this.#wrong = this.#wrong.filter(({ atMs }) => nowMs - atMs < windowMs)
    const own = this.#wrong.filter((each) => each.from === from)
    const strangers = from === thisMachine ? [] : this.#wrong.filter((each) => each.from !== thisMachine)
    return Math.max(waitFor(own, mostOfOne, nowMs), waitFor(strangers, mostOfStrangers, nowMs))
  }
}

function waitFor(wrong: readonly { readonly atMs: number }[], most: number, nowMs: number): number {
  const first = wrong.at(-most)
  return first === undefined ? 0 : first.atMs + windowMs - nowMs
}

function nameOf({ address = '', forwardedFor }: GuessSource): string {
  return isLoopbackAddress(address) && !forwardedFor ? thisMachine : `${address} ${forwardedFor}`
}
