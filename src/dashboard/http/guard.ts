import type { IncomingMessage, ServerResponse } from 'node:http'
import { isProxyHeader, isProxyVersion } from '../../lib/request-source.ts'
import type { ThisMachine } from '../../lib/this-machine.ts'
import { type AccessRules, type Visit, mustBringToken, refusalOf } from './access.ts'
import { errorAnswer, send } from './answer.ts'
import { safetyHeaders } from './safety-headers.ts'
import type { SignIn } from './sign-in.ts'

/** Stands before everything else: no request reaches a route, or has its body read, that it does not let in. */
export class Guard {
  readonly #rules: AccessRules
  readonly #thisMachine: ThisMachine
  readonly #signIn: SignIn | null

  /** `signIn` is null if there is no admin token. */
  constructor(rules: Omit<AccessRules, 'tokenIsSet'>, thisMachine: ThisMachine, signIn: SignIn | null) {
    this.#thisMachine = thisMachine
    this.#rules = { ...rules, tokenIsSet: signIn !== null }
    this.#signIn = signIn
  }

  /** Puts the headers that every answer has, and answers a request itself that is not let in. */
  async admits(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    for (const [name, value] of safetyHeaders) res.setHeader(name, value)
    const refusal = refusalOf(await this.#visitOf(req), this.#rules, () => this.#isSignedIn(req))
    if (refusal !== null) send(req, res, errorAnswer(refusal))
    return refusal === null
  }

  /** Says if whoever asks for an open path would get no further. */
  async demandsSignIn(req: IncomingMessage): Promise<boolean> {
    return mustBringToken(await this.#visitOf(req), this.#rules) && !this.#isSignedIn(req)
  }

  async #visitOf(req: IncomingMessage): Promise<Visit> {
    const source = sourceOf(req)
    return { ...source, isLocal: await this.#thisMachine.sent(source, req.socket) }
  }

  #isSignedIn(req: IncomingMessage): boolean {
    const token = headerOf(req, 'x-tokenweir-admin-token')
    return this.#signIn?.isShownBy(token, headerOf(req, 'cookie')) ?? false
  }
}

function sourceOf(req: IncomingMessage): Omit<Visit, 'isLocal'> {
  const hosts = req.headersDistinct['host'] ?? []
  return {
    method: req.method ?? '',
    target: req.url ?? '',
    hosts,
    host: hosts[0] ?? null,
    origin: headerOf(req, 'origin'),
    secFetchSite: headerOf(req, 'sec-fetch-site'),
    secFetchMode: headerOf(req, 'sec-fetch-mode'),
    via: headerOf(req, 'via'),
    forwardedFor: isProxyVersion(req.httpVersion) || Object.keys(req.headers).some(isProxyHeader),
  }
}

/** Every mention of a header, in one text; null if there is none. */
function headerOf(req: IncomingMessage, name: string): string | null {
  return req.headersDistinct[name]?.join(name === 'cookie' ? '; ' : ', ') ?? null
}
