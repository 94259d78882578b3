import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { PageAssets } from './page-assets.ts'

const files: Readonly<Record<string, string>> = {
  'index.html': '<script src="/assets/main.js">',
  'main.js': 'secret()',
  'sign-in.html': '<link href="/assets/style.css"><script src="/assets/sign-in.js"> "/assets/nothing.js"',
  'sign-in.js': "import { a } from './part.js'; fetch('/api/session')",
  'part.js': "import './sign-in.js'",
  'style.css': '',
  'notes.txt': '',
  'tsconfig.json': '{}',
}

function assetsOf(t: TestContext): PageAssets {
  const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'below.js'))
  return new PageAssets(pathToFileURL(`${folder}/`))
}

test('a page is made of the files that it names, and of those that they name', (t) => {
  assert.deepEqual([...assetsOf(t).partsOf('sign-in.html')].sort(), [
    'part.js',
    'sign-in.html',
    'sign-in.js',
    'style.css',
  ])
})

test('only files of a page are there', (t) => {
  const assets = assetsOf(t)
  assert.equal(assets.get('main.js')?.content.toString(), 'secret()')
  assert.equal(assets.get('main.js')?.contentType, 'text/javascript; charset=utf-8')
  for (const name of ['notes.txt', 'tsconfig.json', 'below.js', '', '.', '../x.js', 'constructor']) {
    assert.equal(assets.get(name), undefined, name)
  }
})

test('a file has a tag of its content', (t) => {
  const [one, other] = [assetsOf(t), assetsOf(t)]
  assert.equal(one.get('main.js')?.etag, other.get('main.js')?.etag)
  assert.notEqual(one.get('main.js')?.etag, one.get('part.js')?.etag)
})
