import type { IncomingMessage, ServerResponse } from 'node:http'
import { isProxyHeader, isProxyVersion } from '../../lib/http/request-source.ts'
import type { GuessSource } from '../../lib/http/guarded-token.ts'
import type { ThisMachine } from '../../lib/this-machine.ts'
import { type AccessRules, type Access, mustBringToken, refusalOf } from './access.ts'
import { refuse } from './answer.ts'
import { safetyHeaders } from './safety-headers.ts'
import type { SignIn } from './sign-in.ts'

/** Stands before everything else: no request reaches a route, or has its body read, that it does not let in. */
export interface Guard {
  /** Puts the headers that every answer has, and answers a request itself that is not let in. */
  admits(req: IncomingMessage, res: ServerResponse): Promise<boolean>
  /** Says if whoever asks for an open path would get no further. */
  demandsSignIn(req: IncomingMessage): Promise<boolean>
}

/** `signIn` is null if there is no admin token. */
export function makeGuard(
  given: Omit<AccessRules, 'tokenIsSet'>,
  thisMachine: ThisMachine,
  signIn: SignIn | null,
): Guard {
  const rules = { ...given, tokenIsSet: signIn !== null }
  const visitOf = async (req: IncomingMessage): Promise<Access> => {
    const source = sourceOf(req)
    return { ...source, isLocal: await thisMachine.isLocalUser(source, req.socket) }
  }
  const isSignedIn = (req: IncomingMessage): boolean =>
    signIn?.isShownBy(
      headerOf(req, 'x-tokenweir-admin-token'),
      headerOf(req, 'cookie'),
      guessSourceOf(req),
    ) ?? false
  return {
    admits: async (req, res) => {
      for (const [name, value] of safetyHeaders) res.setHeader(name, value)
      const refusal = refusalOf(await visitOf(req), rules, () => isSignedIn(req))
      if (refusal !== null) refuse(req, res, refusal)
      return refusal === null
    },
    demandsSignIn: async (req) => mustBringToken(await visitOf(req), rules) && !isSignedIn(req),
  }
}

function sourceOf(req: IncomingMessage): Omit<Access, 'isLocal'> {
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
    forwardedFor: isForwarded(req),
  }
}

function isForwarded(req: IncomingMessage): boolean {
  return isProxyVersion(req.httpVersion) || Object.keys(req.headers).some(isProxyHeader)
}

/** The origin of a request that may bring the admin token. */
export function guessSourceOf(req: IncomingMessage): GuessSource {
  return { address: req.socket.remoteAddress, forwardedFor: isForwarded(req) }
}

/** Every mention of a header, in one text; null if there is none. */
function headerOf(req: IncomingMessage, name: string): string | null {
  return req.headersDistinct[name]?.join(name === 'cookie' ? '; ' : ', ') ?? null
}
