import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { eventually } from '../support/eventually.ts'
import { inParallel } from '../support/in-parallel.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'

/** What a terminal would obey or hide, whatever its place: controls of both kinds, and turns of the direction. */
const obeyed = ['\u001b[2J', '\u007f', '\u0085', '\u009b2J', '\u009d', '\u202e', '\u2066', '\u2028', '\ufeff']
const evil = `evil${obeyed.join('x')}`
/** A header's value that is this text in UTF-8. */
const inHeader = (text: string): string => Buffer.from(text).toString('latin1')
// oxlint-disable-next-line no-control-regex -- just these
const unprintable = /[\0-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/

const jsonLists = [
  'calls',
  'sessions',
  'clients list',
  'upstreams list',
  'alerts',
  'limits',
  'top',
  'costs show',
]
const commands: readonly (readonly string[])[] = [
  ...jsonLists.flatMap((name) => [name.split(' '), [...name.split(' '), '--json']]),
  ['calls', '--model', evil, '--json'],
  ['costs', 'show', evil],
  ['costs', 'show', evil, '--json'],
  ['db', 'reprice', '--from', '2026-01-01', '--dry-run'],
  ['db', 'reprice', '--from', '2026-01-01', '--dry-run', '--json'],
  ['doctor'],
  ['doctor', '--json'],
]

test('names of models, clients, sessions and tags reach no terminal as what it would obey', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dir = await makeTempDir()
  await using up = await startUpProcess({ directory: dir.path, args: ['--upstream', upstream.baseUrl] })
  const run = async (args: readonly string[]): Promise<string> => {
    await using command = startCommandProcess({ args, directory: dir.path })
    await command.exited
    return command.stdout + command.stderr
  }
  for (const model of [evil, `${evil}2`]) {
    const answer = await fetch(`${up.gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-tokenweir-client': inHeader(evil.replace('\u001b', '').replace('\u007f', '')),
        'x-tokenweir-session': inHeader('evil\u202e\u2066'),
        'x-tokenweir-tag-team': inHeader('evil\u0085\u202e'),
      },
      body: JSON.stringify({ model, metadata: { team: evil }, user: evil }),
    })
    await answer.arrayBuffer()
  }
  await eventually(
    'both calls are rows',
    async () => (await run(['calls', '--json'])).split('\n').length === 3,
  )
  await inParallel(commands, 2, async (args) => {
    const said = await run(args)
    assert.doesNotMatch(said, unprintable, args.join(' '))
    if (/calls|sessions|clients/.test(args[0] ?? '')) assert.match(said, /evil/, args.join(' '))
  })
  const metrics = await (await fetch(`${up.gateway}/metrics`)).text()
  assert.match(metrics, /model="evil/)
  assert.doesNotMatch(metrics, unprintable)
  const [call = ''] = (await run(['calls', '--json'])).split('\n')
  assert.equal((JSON.parse(call) as { readonly model: string }).model, evil)
})
