import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fieldsDoc, withFieldTable } from '../../build/fields-doc.ts'
import { optionDocs, withOptionTables } from '../../build/options-doc.ts'
import { type FailureCode, failureKinds } from '../../src/call/failure.ts'
import { positional } from '../../src/cli/commands/env.ts'
import { commands } from '../../src/cli/main.ts'
import { errorStatuses } from '../../src/dashboard/http/request-error.ts'
import { ClientLabels } from '../../src/gateway/call/client-labels.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { settingName, specsOf } from '../../src/options/option-spec.ts'
import { RecordComposer } from '../../src/payloads/record/compose-record.ts'
import type { RawAnswer } from '../../src/payloads/record/raw-payload.ts'
import { costPicoUsd } from '../../src/pricing/cost.ts'
import { tiersOf } from '../../src/pricing/price-tiers.ts'
import { fees, tokenRates } from '../../src/pricing/rate-bounds.ts'
import { readModelCosts } from '../../src/pricing/read-model-costs.ts'
import { knownUpstreams } from '../../src/pricing/upstream-table.ts'
import { askedAllTheSame } from '../clients/agents.ts'
import { startDashboard } from '../dashboard/dashboard-under-test.ts'
import { usageOf } from '../pricing/sample-costs.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

function readDoc(name: string): Promise<string> {
  return readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
}

/** The sections under headings of the third level, by heading, each with the heading above it. */
function sectionsOf(markdown: string): Map<string, { readonly chapter: string; readonly text: string }> {
  const sections = new Map<string, { readonly chapter: string; readonly text: string }>()
  let chapter = ''
  for (const part of markdown.split(/^(?=##+ )/m)) {
    const [, marks = '', title = ''] = /^(##+) (.+)\n/.exec(part) ?? []
    if (marks === '##') chapter = title
    else if (marks === '###') sections.set(title, { chapter, text: part.slice(part.indexOf('\n')).trim() })
  }
  return sections
}

test('docs/errors.md has a section for every code, and none for what is no code', async () => {
  const sections = sectionsOf(await readDoc('errors.md'))
  assert.deepEqual([...sections.keys()].sort(), Object.keys(failureKinds).sort())
})

test('docs/errors.md tells the status of every code that is answered, and which are only recorded', async () => {
  const sections = sectionsOf(await readDoc('errors.md'))
  for (const code of Object.keys(failureKinds) as FailureCode[]) {
    const { status, shouldRetry } = failureKinds[code]
    const { chapter, text } = sections.get(code) ?? { chapter: '', text: '' }
    if (status === null) assert.equal(chapter, 'Only recorded', code)
    else {
      assert.equal(chapter, 'Answered by the gateway', code)
      assert.match(text, new RegExp(`^${status}\\b`), code)
      // Unless it is not to be tried again.
      assert.equal(/^\d{3} with `Retry-After`/.test(text), status === 503 && shouldRetry !== false, code)
    }
  }
})

test('docs name no option that the gateway does not have', async () => {
  const options = await Promise.all(optionDocs.map((doc) => readFile(doc, 'utf8')))
  const known = new Set([...options.join('').matchAll(/--[a-z\d-]+/g)].map(([name]) => name))
  assert.ok(known.has('--max-concurrent'))
  for (const name of ['http.md', 'errors.md', 'internals/architecture.md', 'dashboard.md', 'api.md']) {
    for (const [option] of (await readDoc(name)).matchAll(/--[a-z][a-z\d-]+/g))
      assert.ok(known.has(option), `${name}: ${option}`)
  }
})

test('a command that a message or a page tells of exists, with its options', async () => {
  const files = globSync(['{src,ui}/**/*.{ts,tsx}', 'docs/**/*.md', 'README.md'], { cwd: repository })
  let found = 0
  // The first lines of a start have the program's name, and no command.
  for (const file of files.filter((name) => !/\.test\.|start-lines/.test(name))) {
    const text = await readFile(join(repository, file), 'utf8')
    for (const [, told = ''] of text.matchAll(/(?:`|\\`|: )tokenweir ((?:[a-z]+ ?)+[^`'\n\\]*)/g)) {
      const [first = '', second = ''] = told.split(' ')
      const name = [`${first} ${second}`, first, `${first} list`].find((known) => known in commands)
      if (name === undefined) {
        assert.ok(
          Object.keys(commands).some((known) => known.startsWith(`${first} `)),
          `${file}: ${told}`,
        )
        continue
      }
      found += 1
      const { table } = await commands[name]![1]()
      const options = new Set(Object.values(table).map((spec) => (spec as { readonly name: string }).name))
      for (const [, option = ''] of told.matchAll(/ --([a-z][a-z\d-]+)/g))
        assert.ok(options.has(option) || option === 'help', `${file}: tokenweir ${told}`)
    }
  }
  assert.ok(found > 60, String(found))
})

test('docs/api-errors.md tells of every error code with its status, and of none that is not answered', async () => {
  const table = await readDoc('api-errors.md')
  const told = new Map<string, string>()
  for (const [, codes = '', statuses = ''] of table.matchAll(/^\| (`.+?`) \| ([\d, ]+) \|/gm)) {
    for (const [, code = ''] of codes.matchAll(/`([a-z_]+)`/g)) told.set(code, statuses)
  }
  assert.deepEqual([...told.keys()].sort(), Object.keys(errorStatuses).sort())
  for (const [code, status] of Object.entries(errorStatuses)) {
    assert.ok(told.get(code)?.includes(String(status)), `${code}: ${status}`)
  }
})

test('docs/api.md tells of every path of the API', async () => {
  await using dashboard = await startDashboard()
  const routes = Object.keys(dashboard.server.routes)
  const paths = routes.map((route) => route.split(' ')[1] ?? '').filter((path) => path.startsWith('/api/'))
  const text = await readDoc('api.md')
  assert.ok(paths.length >= 9)
  for (const path of paths) assert.ok(text.includes(path), path)
})

test('every page has 200 lines at most, and leads to pages and headings that there are', async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const names = globSync('{README,CONTRIBUTING,CHANGELOG,docs/**/*}.md', { cwd: root })
  const pages = new Map(names.map((name) => [name, readFileSync(root + name, 'utf8')]))
  assert.ok(pages.has('docs/internals/decisions/README.md'))
  for (const [name, text] of pages) {
    const lines = text.split('\n').length
    assert.ok(lines <= 201, `${name}: ${lines} lines`)
    for (const [, path = '', anchor] of text.matchAll(/\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)/g)) {
      const there = path === '' ? text : pages.get(join(dirname(name), path))
      assert.ok(there !== undefined, `${name} leads to ${path}`)
      if (anchor !== undefined) assert.ok(anchorsOf(there).has(anchor), `${name} leads to ${path}#${anchor}`)
    }
  }
})

function anchorsOf(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

const clientsPage = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')

test('docs/clients.md has a recipe of at most ten lines for every client of `tokenweir env`', () => {
  const recipes = [...clientsPage.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, recipe = '']) => recipe)
  for (const recipe of recipes) assert.ok(recipe.trimEnd().split('\n').length <= 10, recipe)
  for (const client of positional[1].split(', '))
    assert.ok(
      recipes.some((recipe) => recipe.includes(`tokenweir env ${client}`)),
      client,
    )
})

test('docs/clients.md names what agents look up all the same', () => {
  const [, told = ''] = clientsPage.split('and no others:')
  for (const name of askedAllTheSame) assert.ok(told.split('. ')[0]?.includes(name), name)
})

const pricesPage = readFileSync(new URL('../../docs/prices.md', import.meta.url), 'utf8')
const [today, older] = [...pricesPage.matchAll(/^```json\n([^]*?)^```/gm)].map(([, json = '']) =>
  readModelCosts(json),
)

test('docs/prices.md lists every host whose prices are listed', () => {
  const told = new Map<string, object>()
  for (const [, hosts = '', prefix = '', provider] of pricesPage.matchAll(
    /^ +\| (`.+?) \| (.+?) \| `(.+?)` \|$/gm,
  )) {
    for (const [, host = ''] of hosts.matchAll(/`(.+?)`/g)) {
      told.set(host, { prefix: prefix === '–' ? '' : prefix.replaceAll('`', ''), provider })
    }
  }
  assert.deepEqual(Object.fromEntries(told), knownUpstreams)
})

test('docs/prices.md lists every rate', () => {
  const told = [...pricesPage.matchAll(/^\| `([a-z_\d]+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(told, [...tokenRates, ...fees])
})

test('the files in docs/prices.md are sound', () => {
  assert.ok(today && 'costs' in today, JSON.stringify(today))
  assert.ok(older && 'costs' in older, JSON.stringify(older))
  assert.deepEqual(Object.keys(older.costs.overrides), ['gpt-4o'])
})

test('what docs/prices.md reckons is what is reckoned', () => {
  assert.ok(today && 'costs' in today)
  const rows = [...pricesPage.matchAll(/^\| `([^`]+)`: (.+?) \| (.+?) \| ([\d.]+) \|$/gm)]
  assert.equal(rows.length, 5)
  for (const [, key = '', counts = '', sum = '', usd] of rows) {
    const count = (name: string): number =>
      Number(new RegExp(`([\\d,]+) ${name}`).exec(counts)?.[1]?.replaceAll(',', '') ?? 0)
    const period = today.costs.models[key]?.prices[0]
    assert.ok(period, key)
    const usage = usageOf({
      inputTokens: count('in'),
      cachedInputTokens: count('cached'),
      cacheWriteTokens: count('written'),
      cacheWrite1hTokens: count('for an hour'),
      outputTokens: count('out'),
    })
    const pico = costPicoUsd(usage, { tiers: tiersOf(period, null) })
    assert.equal(pico, Math.round(Number(usd) * 1e12), key)
    const byHand = sum.split(' + ').map((part) => {
      const [tokens = '', rate = ''] = part.split(' × ')
      return Number(tokens.replaceAll(',', '')) * Number(rate) * 1e6
    })
    assert.equal(pico, Math.round(byHand.reduce((all, part) => all + part, 0)), key)
  }
})

const composer = new RecordComposer({ salt: Buffer.alloc(16), maxBodyBytes: 1000 })

function answerOf(contentType: string, body: Buffer, coding: string): RawAnswer {
  return {
    callId: 7_218_000_000_000_000,
    wallTimeMs: 1_795_000_000_000,
    method: 'POST',
    path: '/v1/chat/completions',
    headers: ['Content-Type', contentType, 'Content-Encoding', coding],
    bytes: body,
    totalBytes: body.length,
    truncated: false,
    model: null,
    stream: true,
    status: 200,
    outcome: 'ok',
    failureCode: null,
    durationMs: 1,
    chunkOffsetsMs: [1],
  }
}

test('docs/raw-log.md tells of every field of a record, and of no other', async () => {
  const doc = await readFile(new URL('../../docs/raw-log.md', import.meta.url), 'utf8')
  const [, table = ''] = /## A record\n([^]*?)\n### /.exec(doc) ?? []
  const told = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const raws = [
    answerOf('text/event-stream', Buffer.from('data: {}\n\n'), ''),
    answerOf('image/png', Buffer.from([0xff]), ''),
    answerOf('image/png', Buffer.from([0xff]), 'unknown'),
  ]
  const written = raws
    .flatMap((raw) => [composer.composeAnswer(raw, 1), composer.composeRequest(raw, 1)])
    .flatMap((line) => Object.keys(JSON.parse(line) as object))
  assert.deepEqual(new Set(told), new Set(written))
  assert.equal(new Set(told).size, told.length)
})

test('a bearer key has the fingerprint in the log that it has in its call', () => {
  const salt = Buffer.from('0123456789abcdef')
  const credential = 'Bearer sk-weir-0123456789abcdef'
  const raw = { ...answerOf('', Buffer.alloc(0), ''), headers: ['Authorization', credential] }
  const line = new RecordComposer({ salt, maxBodyBytes: 1000 }).composeRequest(raw, 1)
  const print = new ClientLabels(salt).fingerprint(credential) ?? ''
  assert.ok(line.includes(`"Bearer hmac:${print}(24)"`), line)
})

const texts = optionDocs.map((doc) => readFileSync(doc, 'utf8'))
const [optionsPage = ''] = texts

test('the pages of options and commands have the tables that `npm run docs` writes', () => {
  assert.deepEqual(texts, withOptionTables(texts))
})

test('docs/fields.md has the fields of a call as the program has them', () => {
  const fields = readFileSync(fieldsDoc, 'utf8')
  assert.equal(fields, withFieldTable(fields), 'npm run docs writes them')
})

test('docs/options.md names the options that can be set on the dashboard', () => {
  const [, told = ''] = /These options can be set there: ([^.]*)\./.exec(optionsPage) ?? []
  const settable = specsOf(gatewayOptionTable).filter(({ changes }) => changes !== undefined)
  assert.deepEqual(
    told.match(/[a-z_\d]+/g),
    settable.map(({ name }) => settingName(name)),
  )
})
