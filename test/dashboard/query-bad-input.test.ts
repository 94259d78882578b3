import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import * as fc from 'fast-check'
import { formatCallId } from '../../src/call/call-id.ts'
import { callsTable } from '../../src/dashboard/routes/query-request.ts'
import { bareCall, chatCall, fullCall, idAt } from '../store/sample-call.ts'
import { errorOf } from './dashboard-under-test.ts'
import { type QueriedDashboard, startQueried } from './query-database.ts'
import { assertWithin } from '../support/assert-within.ts'
import { draws } from '../support/draws.ts'

let queried: QueriedDashboard
before(async () => {
  queried = await startQueried({ calls: [chatCall(idAt(0)), fullCall(idAt(1)), bareCall(idAt(2))] })
})
after(() => queried[Symbol.asyncDispose]())

const time =
  /^(?:from|to) must be a time in ISO 8601 such as 2026-11-21T04:00:00Z, or a day such as 2026-11-21; got /
const long = 'x'.repeat(2001)

/** What is wrong, the parameter that is blamed, and what the message has to tell: what is allowed, and what was got. */
const flaws: readonly [query: string, param: string, message: RegExp][] = [
  ...[
    '',
    'now',
    '2026-11',
    '2026-11-21T04',
    '1795233600',
    '2026-02-30T00:00:00Z',
    '2026-02-30',
    '2026-11-21T25:00:00Z',
  ].map((value): [string, string, RegExp] => [`from=${value}`, 'from', time]),
  ['to=tomorrow', 'to', /got "tomorrow"$/],
  ['from=2026-11-21T04:00:00Z&from=2026-11-21T05:00:00Z', 'from', /got \["2026-11-21T04:00:00Z",/],
  ['from=2026-11-21T04:00:00Z&to=2026-11-21T04:00:00Z', 'to', /^to must be later than from/],
  ['from=2026-11-21T04:00:00Z&to=2026-11-21T05:00:00%2B01:00', 'to', /^to must be later than from/],
  ['from=2026-11-21&to=2026-11-20T23:00:00Z&tz=Europe/Berlin', 'to', /^to must be later than from/],
  ['model=', 'model', /^model must be a name of 1 to 2000 characters, none of them NUL; got ""$/],
  [`model=a&model=${long}`, 'model', /got "x+$/],
  ['call_type=Chat', 'call_type', /must be one of chat, embedding, rerank, props, other; got "Chat"$/],
  ['call_type=chat&call_type=x', 'call_type', /got "x"$/],
  ['call_type=chat,embedding', 'call_type', /got "chat,embedding"$/],
  ['group_by=week', 'group_by', /must be one of hour, day, minute, model, .*; got "week"$/],
  ['group_by=', 'group_by', /got ""$/],
  ['group_by=hour,day', 'group_by', /got "hour,day"$/],
  ['group_by=model,client', 'group_by', /got "model,client"$/],
  ['group_by=hour,model,client', 'group_by', /got/],
  ['group_by=hour,hour', 'group_by', /got/],
  ['group_by=hour,', 'group_by', /got "hour,"$/],
  ['group_by=hour&group_by=model', 'group_by', /got \["hour","model"\]$/],
  ['group_by=constructor', 'group_by', /got "constructor"$/],
  ...['', 'yes', 'TRUE', '2', 'true,false'].map((value): [string, string, RegExp] => [
    `errors_only=${value}`,
    'errors_only',
    /must be true, false, 1 or 0; got "/,
  ]),
  ...['0', '10001', '-1', '1.5', '1e3', '', 'all', ' 5', '٣'].map((value): [string, string, RegExp] => [
    `limit=${encodeURIComponent(value)}`,
    'limit',
    /must be a whole number from 1 to 10,000; got "/,
  ]),
  ['outcome=failed', 'outcome', /must be one of ok, client_disconnected, .*; got "failed"$/],
  ['failure_code=nothing', 'failure_code', /must be one of .*upstream_http.*; got "nothing"$/],
  ['status=99', 'status', /from 100 to 599; got "99"$/],
  ['status=2xx', 'status', /got "2xx"$/],
  ['client=', 'client', /a name/],
  ['session=', 'session', /a name of 1 to 2000 characters, none of them NUL; got ""$/],
  ...['', 'env', ':prod'].map((value): [string, string, RegExp] => [
    `tag=${value}`,
    'tag',
    /must be a tag as key:value; got "/,
  ]),
  ['group_by=tag:', 'group_by', /got "tag:"$/],
  ['group_by=session,tag:env', 'group_by', /got "session,tag:env"$/],
  ['endpoint=', 'endpoint', /a path/],
  ...['-1', 'NaN', 'Infinity', '1e3', '0x10', '1.', '', '9'.repeat(400)].map(
    (value): [string, string, RegExp] => [
      `min_ms=${value}`,
      'min_ms',
      /must be a number of at least 0, .*; got "/,
    ],
  ),
  ['min_ms=10&max_ms=9.5', 'max_ms', /must be at least min_ms/],
  ['q=', 'q', /an id or an error code/],
  ['sort=model', 'sort', /must be one of started_at, duration, ttft, cost; got "model"$/],
  [
    'sort=duration&from=2026-11-21T04:00:00Z&limit=101',
    'limit',
    /1 to 100 in a list sorted by duration; got 101$/,
  ],
  [`sort=ttft&from=2026-11-21T04:00:00Z&cursor=${formatCallId(idAt(0))}`, 'cursor', /one page/],
  ['sort=started_at&group_by=model', 'sort', /group_by/],
  [`cursor=${formatCallId(idAt(0))}&group_by=model`, 'cursor', /group_by/],
  ...['x', '0000000000', 'zzzzzzzzzzz', '00000000000=', '0000000000l', '-1'].map(
    (value): [string, string, RegExp] => [
      `cursor=${value}`,
      'cursor',
      /must be the next_cursor of an answer; got "/,
    ],
  ),
  ['tz=Mars', 'tz', /must be an IANA time zone, such as Europe\/Berlin; got "Mars"$/],
  ['tz=', 'tz', /got ""$/],
  ['format=xml', 'format', /must be one of json, csv, ndjson; got "xml"$/],
  ['models=x', 'models', /^"models" is not a parameter; known are from, to, model, /],
  ['From=x', 'From', /not a parameter/],
  ['__proto__=x', '__proto__', /not a parameter/],
  ["'%20OR%201=1", "' OR 1", /not a parameter/],
]

for (const [query, param, message] of flaws) {
  test(`?${query.slice(0, 60)} is refused over ${param}`, async () => {
    for (const path of ['/api/query', '/api/stats']) {
      const answer = await queried.get(`${path}?${query}`)
      const { code, message: told, ...rest } = errorOf(answer)
      const isUnknown = /not a parameter/.test(told)
      assert.deepEqual(
        [answer.status, code, rest],
        [400, isUnknown ? 'unknown_parameter' : 'invalid_parameter', { param }],
      )
      assert.match(told, message)
    }
  })
}

test('the overview takes the filters and nothing else', async () => {
  for (const param of ['group_by=hour', 'limit=5', 'sort=cost', 'cursor=00000000000', 'format=csv', 'x=1']) {
    const answer = await queried.get(`/api/overview?${param}`)
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'unknown_parameter'], param)
  }
  assert.equal((await queried.get('/api/overview?tz=Mars')).status, 400)
})

const names = Object.keys(callsTable)
const plausible = [
  formatCallId(idAt(1)),
  ...'2026-11-21T04:00:00Z 2026-11-21T05:00:00+01:00 0001-01-01T00:00:00Z'.split(' '),
  ...'9999-12-31T23:59:59.999999999Z 1969-12-31T23:59:59Z 2026-10-25T02:30:00Z chat other'.split(' '),
  ...'gpt-5.1-mini hour day minute model hour,model client,day status true 0 1 100 10000 ok'.split(' '),
  ...'refused upstream_http 200 502 openai-python /v1/chat/completions 0.5 999999999999'.split(' '),
  ...'00000000000 7zzzzzzzzzz started_at duration cost UTC Europe/Berlin Pacific/Apia Etc/GMT+12'.split(' '),
  ...'csv ndjson json'.split(' '),
]
const hostile = [
  "'; DROP TABLE calls; --",
  '" OR ""="',
  '\u0000',
  '\uFFFD',
  '\r\n',
  ...'%00 ../../etc/passwd {"$gt":0} =1+1 ĸ😀 $1 ? * , NaN -0 1e309'.split(' '),
]

/** Query strings of which many are right, most are nearly so, and some are noise. */
const fuzzed = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() }),
      fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...plausible) },
        { weight: 1, arbitrary: fc.constantFrom(...hostile) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
      ),
      fc.boolean(),
    ),
    { maxLength: 5 },
  )
  .map((pairs) =>
    pairs
      .map(([name, value, isRaw]) =>
        isRaw && /^[\x21-\x7e]*$/.test(value) && !value.includes('#')
          ? `${encodeURIComponent(name.toWellFormed())}=${value}`
          : `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
      )
      .join('&'),
  )

test('whatever the query string, the answer is 200 or says in words what is wrong', async () => {
  const runs = draws(2000)
  const statuses = new Map<number, number>()
  const property = fc.asyncProperty(
    fuzzed,
    fc.constantFrom('query', 'query', 'overview'),
    async (query, path) => {
      const startedAt = performance.now()
      const answer = await queried.get(`/api/${path}?${query}`)
      assertWithin(5000, performance.now() - startedAt, query)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      const text = answer.body.toString()
      if (answer.status === 200) {
        if (answer.header('content-type')?.startsWith('application/json') === true) JSON.parse(text)
        return
      }
      assert.equal(answer.status, 400, text)
      const { code, message } = errorOf(answer)
      assert.ok(['invalid_parameter', 'unknown_parameter', 'too_many_groups'].includes(String(code)), text)
      assert.ok(message.length > 10)
      // The parameter's own name, and what was got, may be anything.
      assert.doesNotMatch(
        message.replace(/^\w+ |(?:got|^").*$/gs, ''),
        /SELECT|FROM |sqlite|SQLITE|_id\b|\.ts\b/,
      )
    },
  )
  await fc.assert(property, { numRuns: runs })
  assert.deepEqual([queried.faults, queried.dashboard.faults], [[], []])
  assert.ok(
    (statuses.get(200) ?? 0) > runs / 20 && (statuses.get(400) ?? 0) > runs / 20,
    JSON.stringify([...statuses]),
  )
})
