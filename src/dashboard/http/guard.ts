import type { IncomingMessage, ServerResponse } from 'node:http'
import { isProxyHeader, isProxyVersion } from '../../lib/http/request-source.ts'
import type { GuessSource } from '../../lib/http/guarded-token.ts'
import type { ThisMachine } from '../../lib/this-machine.ts'
import { type AccessRules, type Access, mustBringToken, refusalOf } from './access.ts'
import { refuse } from './answer.ts'
import { safetyHeaders } from './safety-headers.ts'
import type { SignIn } from './sign-in.ts'

/** The first check of each request. A refused request reaches no route, and its body is not read. */
export interface Guard {
  /** Sets the headers of every response, and answers refused requests itself. */
  admits(req: IncomingMessage, res: ServerResponse): Promise<boolean>
  /** True if the client may read open paths only, until it signs in. */
  demandsSignIn(req: IncomingMessage): Promise<boolean>
}

/** Makes a guard. `signIn` is null without an admin token. */
export function makeGuard(
  baseRules: Omit<AccessRules, 'tokenIsSet'>,
  thisMachine: ThisMachine,
  signIn: SignIn | null,
): Guard {
  const rules = { ...baseRules, tokenIsSet: signIn !== null }
  const accessOf = async (req: IncomingMessage): Promise<Access> => {
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
      const refusal = refusalOf(await accessOf(req), rules, () => isSignedIn(req))
      if (refusal !== null) refuse(req, res, refusal)
      return refusal === null
    },
    demandsSignIn: async (req) => mustBringToken(await accessOf(req), rules) && !isSignedIn(req),
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

/** All values of a header in one text; null if it is absent. */
function headerOf(req: IncomingMessage, name: string): string | null {
  return req.headersDistinct[name]?.join(name === 'cookie' ? '; ' : ', ') ?? null
}
