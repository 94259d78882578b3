import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEnvironment } from './child-environment.ts'

const trusted = { upstreamIsTrusted: true, adminToken: null }
const withheld = { upstreamIsTrusted: false, adminToken: null }
type Variables = Readonly<Record<string, string | undefined>>
const key = { UPSTREAM_API_KEY: 'k' }
const lent = ['UPSTREAM_API_KEY']
const spans = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=k', OTEL_SERVICE_NAME: 's' }
/** What a gateway gets of an environment: all of it unless said otherwise. */
const cases: readonly (readonly [string, Variables, Parameters<typeof childEnvironment>[1], Variables?])[] = [
  ['what is needed goes on', { PATH: '/bin', HOME: '/h', LC_ALL: 'C' }, trusted],
  ['what is not named does not', { AWS_SECRET_ACCESS_KEY: 's', OPENAI_API_KEY: 's', FOO: '1' }, trusted, {}],
  ['our own variables do not', { TOKENWEIR_PORT: '1', TOKENWEIR_ADMIN_TOKEN: 't', PORT: '1' }, trusted, {}],
  ['a channel of ours does not', { NODE_CHANNEL_FD: '3' }, trusted, {}],
  ['proxies go', { HTTP_PROXY: 'http://p', https_proxy: 'http://q', NO_PROXY: 'n' }, trusted],
  ['a key goes to a trusted upstream', key, trusted],
  ['a key does not go to another', key, withheld, {}],
  [
    'a key that a further upstream is lent goes, and not to the default one',
    key,
    { ...withheld, variables: lent },
    { ...key, TOKENWEIR_UPSTREAM_KEY_ORIGIN: 'none' },
  ],
  ['a key that both may have goes to both', key, { ...trusted, variables: lent }],
  ['an empty key is none', { UPSTREAM_API_KEY: '' }, trusted, {}],
  ['a variable that is not set is none', { PATH: undefined }, trusted, {}],
  ['the admin token goes', {}, { upstreamIsTrusted: false, adminToken: 't' }, { TOKENWEIR_ADMIN_TOKEN: 't' }],
  ['where Node keeps what it compiled goes', { NODE_COMPILE_CACHE: '/c' }, trusted],
  ['where spans go, and with which headers, goes', spans, withheld],
  ['options of Node go', { NODE_OPTIONS: '--no-warnings' }, trusted],
]

for (const [what, environment, secrets, expected = environment] of cases) {
  test(`a gateway's environment: ${what}`, () => {
    assert.deepEqual(childEnvironment(environment, secrets), expected)
  })
}
