import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { canMakeNamespaces } from '../support/command-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type DocBlock, docBlocks } from './doc-blocks.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const newcomer = fileURLToPath(new URL('newcomer.ts', import.meta.url))
const pages = ['README.md', ...globSync('docs/*.md', { cwd: repository }).toSorted()].filter(
  (page) => docBlocks(readFileSync(`${repository}${page}`, 'utf8')).length > 0,
)
/** Of all blocks, those that cannot be run. */
const greatestShare = 0.1

type Followed = DocBlock & { readonly failed: string | null }

/** A page's blocks as a newcomer runs them, in an empty folder and a network without anything else. */
async function followed(page: string): Promise<readonly Followed[]> {
  await using folder = await makeTempDir()
  await using programs = await makeTempDir()
  const inner = 'ip link set lo up; "$@"; exit $?'
  const args = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child', '--', 'sh', '-c', inner, 'sh']
  const child = spawn(
    'unshare',
    [...args, process.execPath, newcomer, `${repository}${page}`, folder.path, programs.path],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const blocks = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Followed)
  assert.equal(blocks.length, docBlocks(readFileSync(`${repository}${page}`, 'utf8')).length, error)
  return blocks
}

for (const page of pages) {
  test(`${page}: every block runs in an empty folder`, { skip: !canMakeNamespaces() }, async () => {
    const blocks = await followed(page)
    const failed = blocks.filter((block) => block.failed !== null)
    assert.equal(failed.map(({ line, failed: why }) => `${page}:${line} ${why}`).join('\n'), '')
  })
}

test('at most one block in ten cannot be run, and each says why', (context) => {
  const blocks = pages.flatMap((page) =>
    docBlocks(readFileSync(`${repository}${page}`, 'utf8')).map(({ line, reason }) => ({
      page,
      line,
      reason,
    })),
  )
  const left = blocks.filter(({ reason }) => reason !== undefined)
  context.diagnostic(`${left.length} of ${blocks.length} blocks are not run`)
  for (const { page, line, reason } of left) context.diagnostic(`${page}:${line} ${reason}`)
  assert.ok(left.length <= blocks.length * greatestShare, `${left.length} of ${blocks.length}`)
})
