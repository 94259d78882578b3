import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type PageAssets, partsOf, readPage } from './page-assets.ts'

const files: Readonly<Record<string, string>> = {
  'index.html': '<script src="/assets/main-1a.js">',
  'assets/main-1a.js': 'secret()',
  'assets/main-1a.js.br': 'br of it',
  'assets/main-1a.js.gz': 'gzip of it',
  'sign-in.html':
    '<link href="/assets/style-2b.css"><script src="/assets/sign-in-3c.js"> "/assets/nothing.js"',
  'assets/sign-in-3c.js': 'import{a}from"./part-4d.js";fetch(`/api/session`);b=`/assets/icon-5e.svg`',
  'assets/part-4d.js': 'import"./sign-in-3c.js"',
  'assets/style-2b.css': '',
  'assets/icon-5e.svg': '<svg/>',
  'notes.txt': '',
  'tsconfig.json': '{}',
}

function assetsOf(t: TestContext): PageAssets {
  const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  mkdirSync(join(folder, 'below.js'))
  return readPage(pathToFileURL(`${folder}/`))
}

test('a page is made of the files that it names, and of those that they name', (t) => {
  assert.deepEqual([...partsOf(assetsOf(t), 'sign-in.html')].sort(), [
    'assets/icon-5e.svg',
    'assets/part-4d.js',
    'assets/sign-in-3c.js',
    'assets/style-2b.css',
    'sign-in.html',
  ])
})

test('only files of a page are there', (t) => {
  const assets = assetsOf(t)
  assert.equal(assets.get('assets/main-1a.js')?.content.toString(), 'secret()')
  assert.equal(assets.get('assets/main-1a.js')?.contentType, 'text/javascript; charset=utf-8')
  for (const name of [
    'notes.txt',
    'tsconfig.json',
    'below.js',
    'assets/main-1a.js.br',
    '',
    '.',
    '../../x.js',
    'constructor',
  ]) {
    assert.equal(assets.get(name), undefined, name)
  }
})

test('a file has a tag of its content', (t) => {
  const [one, other] = [assetsOf(t), assetsOf(t)]
  assert.equal(one.get('assets/main-1a.js')?.tag, other.get('assets/main-1a.js')?.tag)
  assert.notEqual(one.get('assets/main-1a.js')?.tag, one.get('assets/part-4d.js')?.tag)
})

test('where nothing was built there is nothing', (t) => {
  assert.equal(assetsOf(t).has('index.html'), true)
  const assets = readPage(new URL('no-such-folder/', import.meta.url))
  assert.equal(assets.size, 0)
  assert.equal(assets.get('index.html'), undefined)
  assert.deepEqual([...partsOf(assets, 'sign-in.html')], ['sign-in.html'])
})
