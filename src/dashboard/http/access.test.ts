import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AccessRules, type Access, refusalOf } from './access.ts'
import { errorStatuses } from './request-error.ts'

const rules: AccessRules = {
  allowedHosts: ['dash.example'],
  demandsToken: false,
  tokenIsSet: true,
  openPaths: new Set(['/', '/api/session', '/assets/sign-in.js']),
}

const plain: Access = {
  method: 'GET',
  target: '/api/proxy/status',
  hosts: ['localhost:9118'],
  host: 'localhost:9118',
  origin: null,
  secFetchSite: null,
  secFetchMode: null,
  via: null,
  forwardedFor: false,
  isLocal: true,
}

const under = (...hosts: string[]): Partial<Access> => ({ hosts, host: hosts[0] ?? null })
const from = (secFetchSite: string, rest: Partial<Access> = {}): Partial<Access> => ({
  secFetchSite,
  ...rest,
})
const page = { target: '/', secFetchMode: 'navigate' }

interface Case {
  readonly what: string
  readonly visit: Partial<Access>
  readonly rules?: Partial<AccessRules>
  readonly hasToken?: boolean
  /** Status and code; null where the request is let in. */
  readonly refusal: string | null
}

const outside: Partial<AccessRules> = { demandsToken: true }
const tokenless: Partial<AccessRules> = { tokenIsSet: false }

const cases: readonly Case[] = [
  { what: 'a program on this machine', visit: {}, refusal: null },
  { what: 'the same by POST', visit: { method: 'POST' }, refusal: null },

  { what: 'no Host', visit: under(), refusal: '400 invalid_host' },
  { what: 'two Hosts', visit: under('localhost', 'localhost'), refusal: '400 invalid_host' },
  ...[
    '',
    'a b',
    'a@localhost',
    'localhost:x',
    'x:y:80',
    'localhost/',
    '[::1',
    'löcalhost',
    'a,localhost',
  ].map((host): Case => ({ what: `Host ${host}`, visit: under(host), refusal: '400 invalid_host' })),
  ...['127.0.0.1', '[::1]:9118', '192.168.1.5:80', 'a.localhost', 'Dash.Example:9118'].map((host): Case => ({
    what: `Host ${host}`,
    visit: under(host),
    refusal: null,
  })),
  ...['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost.', '1.2.3.4.5'].map(
    (host): Case => ({ what: `Host ${host}`, visit: under(host), refusal: '403 forbidden_host' }),
  ),
  { what: 'a rebound page', visit: { ...under('evil.example'), ...page }, refusal: '403 forbidden_host' },

  {
    what: 'another form of target',
    visit: { target: 'http://localhost:9118/' },
    refusal: '400 invalid_target',
  },
  { what: 'a backslash', visit: { target: '/\\evil.example' }, refusal: '400 invalid_target' },
  { what: 'the asterisk', visit: { method: 'OPTIONS', target: '*' }, refusal: '400 invalid_target' },

  ...(['cross-site', 'same-site'] as const).flatMap((site): Case[] => [
    { what: `${site} GET`, visit: from(site), refusal: '403 cross_site' },
    { what: `${site} POST`, visit: from(site, { method: 'POST' }), refusal: '403 cross_site' },
    { what: `${site} link to the page`, visit: from(site, page), refusal: null },
    { what: `${site} link with a code`, visit: from(site, { ...page, target: '/?token=x' }), refusal: null },
    {
      what: `${site} form to the page`,
      visit: from(site, { ...page, method: 'POST' }),
      refusal: '403 cross_site',
    },
    {
      what: `${site} link to a view`,
      visit: from(site, { target: '/calls?model=a', secFetchMode: 'navigate' }),
      refusal: null,
    },
    {
      what: `${site} link to no view`,
      visit: from(site, { target: '/calls/x', secFetchMode: 'navigate' }),
      refusal: '403 cross_site',
    },
    {
      what: `${site} link to the API`,
      visit: from(site, { secFetchMode: 'navigate' }),
      refusal: '403 cross_site',
    },
    { what: `${site} script`, visit: from(site, { target: '/assets/main.js' }), refusal: '403 cross_site' },
    { what: `${site} fetch of the page`, visit: from(site, { target: '/' }), refusal: '403 cross_site' },
  ]),
  { what: 'the page itself', visit: from('same-origin', { method: 'POST' }), refusal: null },
  { what: 'a person', visit: from('none', page), refusal: null },
  ...['null', 'http://evil.example', 'http://localhost:9090', 'http://localhost', 'x', ''].map(
    (origin): Case => ({
      what: `Origin ${origin}`,
      visit: { method: 'POST', origin },
      refusal: '403 cross_site',
    }),
  ),
  { what: 'its own Origin', visit: { method: 'POST', origin: 'http://localhost:9118' }, refusal: null },

  { what: 'the gateway', visit: { via: '1.1 tokenweir-k3v9x2ab' }, refusal: '403 forwarded_by_gateway' },
  {
    what: 'the gateway behind another proxy, with the token',
    visit: { via: '1.1 a, 1.1 Tokenweir-k3v9x2ab, 1.1 b' },
    hasToken: true,
    refusal: '403 forwarded_by_gateway',
  },

  { what: 'a proxy', visit: { isLocal: false }, refusal: '401 token_required' },
  { what: 'a proxy with the token', visit: { isLocal: false }, hasToken: true, refusal: null },
  {
    what: 'a proxy and no token set',
    visit: { isLocal: false },
    rules: tokenless,
    refusal: '403 token_not_set',
  },
  {
    what: 'a proxy to the page and no token set',
    visit: { isLocal: false, ...page },
    rules: tokenless,
    refusal: '403 token_not_set',
  },
  { what: 'anybody outside', visit: {}, rules: outside, refusal: '401 token_required' },
  { what: 'an unknown path outside', visit: { target: '/x' }, rules: outside, refusal: '401 token_required' },
  { what: 'anybody outside with the token', visit: {}, rules: outside, hasToken: true, refusal: null },
  ...['/', '/?token=x', '/assets/sign-in.js', '/api/session'].map((target): Case => ({
    what: `${target} outside`,
    visit: { target },
    rules: outside,
    refusal: null,
  })),
  ...['//', '/assets/main.js', '/api/session/', '/api/session/..', '/%2e', '/api/Session'].map(
    (target): Case => ({
      what: `${target} outside`,
      visit: { target },
      rules: outside,
      refusal: '401 token_required',
    }),
  ),
]

for (const { what, visit, rules: others, hasToken = false, refusal } of cases) {
  test(`${what}: ${refusal ?? 'let in'}`, () => {
    const found = refusalOf({ ...plain, ...visit }, { ...rules, ...others }, () => hasToken)
    assert.equal(found === null ? null : `${errorStatuses[found.code]} ${found.code}`, refusal)
  })
}

test('a name that is not allowed is told how to allow it', () => {
  const found = refusalOf({ ...plain, ...under('box.lan:9118') }, rules, () => false)
  assert.match(found?.message ?? '', /allow it with --allow-host box\.lan/)
})
