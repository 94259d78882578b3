import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { optionDocs } from '../../build/options-doc.ts'
import { commands } from '../../src/cli/main.ts'
import { type FailureCode, failureKinds } from '../../src/call/failure.ts'
import { errorStatuses } from '../../src/dashboard/http/request-error.ts'
import { startDashboard } from '../dashboard/dashboard-under-test.ts'

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
