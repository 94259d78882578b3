import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commands } from '../../src/cli/main.ts'
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
async function followed(pageFile: string): Promise<readonly Followed[]> {
  await using folder = await makeTempDir()
  await using programs = await makeTempDir()
  const inner = 'ip link set lo up; "$@"; exit $?'
  const args = ['--net', '--pid', '--fork', '--mount-proc', '--kill-child', '--', 'sh', '-c', inner, 'sh']
  const child = spawn(
    'unshare',
    [...args, process.execPath, newcomer, pageFile, folder.path, programs.path],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const blocks = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Followed)
  assert.equal(blocks.length, docBlocks(readFileSync(pageFile, 'utf8')).length, error)
  return blocks
}

for (const page of pages) {
  test(`${page}: every block runs in an empty folder`, { skip: !canMakeNamespaces() }, async () => {
    const blocks = await followed(`${repository}${page}`)
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

/** Files and names that examples of the help take for granted, in the order in which a user makes them. */
const givenToExamples = [
  `echo '{"my-model":{"input_cost_per_token":1e-7,"output_cost_per_token":4e-7,"litellm_provider":"openai","mode":"chat"}}' > prices.json`,
  `printf 'request_id,call_type,spend,prompt_tokens,completion_tokens,startTime,endTime,model\\nr-1,acompletion,0.01,100,20,2026-11-18 04:00:00,2026-11-18 04:00:02,gpt-4.1\\n' > spend-logs.csv`,
]

test(
  'the example of every command runs, beside a gateway with a call',
  { skip: !canMakeNamespaces() },
  async () => {
    await using folder = await makeTempDir()
    const modules = await Promise.all(Object.values(commands).map(([, load]) => load()))
    const examples = modules.map(({ example }) => example)
    /** Servers take the ports of each other: they come last. `sharing.md` runs what needs PostgreSQL. */
    const servers = examples.filter((example) => /^tokenweir (?:up|gateway|dashboard|demo)\b/.test(example))
    const removals = examples.filter((example) => example.includes(' remove '))
    const others = examples.filter(
      (example) => ![...servers, ...removals].includes(example) && !/--to-share|gateways set/.test(example),
    )
    const lines = [...givenToExamples, ...others, ...removals, ...servers]
    const page = folder.file('help.md')
    writeFileSync(page, lines.map((line) => `\`\`\`sh\n${line}\n\`\`\`\n`).join('\n'))
    const failed = (await followed(page)).filter((block) => block.failed !== null)
    assert.equal(failed.map(({ text: line, failed: why }) => `${line}${why}`).join('\n'), '')
  },
)
