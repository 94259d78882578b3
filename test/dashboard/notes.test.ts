/** Notes are kept beside the database, and told with what happened to the gateway. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Note, NotesReport } from '../../src/api/notes.ts'
import type { Overview } from '../../src/api/overview.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'

const noon = '2026-11-21T12:00:00.000Z'
const day = '/api/overview?from=2026-11-21&to=2026-11-22'

async function told<T>(answer: Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T
}

const codeOf = async (answer: Promise<Response>): Promise<unknown> =>
  (await told<{ error: { code: unknown } }>(answer)).error.code

const post = (dashboard: DashboardProcess, note: object): Promise<Response> =>
  fetch(`${dashboard.origin}/api/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(note),
  })

test('a note is kept, masked, told with the day it is of, and deleted', async () => {
  await using dashboard = await startDashboardProcess()
  const key = `sk-proj-${'Ab3dEf6hIj9k'.repeat(4)}`
  const added = await post(dashboard, { text: `deployed v2 with ${key}`, at: '2026-11-21T13:00:00+01:00' })
  assert.equal(added.status, 201)
  const note = (await added.json()) as Note
  assert.equal(note.at, noon)
  assert.match(note.text, /^deployed v2 with (?!sk-proj-Ab3d)/)
  const file = `${dashboard.directory}/data/notes.json`
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file, 'utf8').includes(key))
  const before = Date.now()
  const now = (await (await post(dashboard, { text: 'just now' })).json()) as Note
  assert.ok(Date.parse(now.at) >= before - 1 && Date.parse(now.at) <= Date.now())

  const all = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual(all.notes, [now, note])
  const ofDay = await told<NotesReport>(dashboard.ask('GET', '/api/notes?from=2026-11-21&to=2026-11-22'))
  assert.deepEqual(ofDay.notes, [note])
  const { events } = await told<Overview>(dashboard.ask('GET', day))
  assert.deepEqual(events, [{ at: noon, instance: null, kind: 'note', detail: note.text }])

  assert.equal((await dashboard.ask('DELETE', `/api/notes/${note.id}`)).status, 200)
  assert.deepEqual((await told<Overview>(dashboard.ask('GET', day))).events, [])
  assert.equal(await codeOf(dashboard.ask('DELETE', `/api/notes/${note.id}`)), 'note_not_found')
})

test('what is no note is refused, from elsewhere all is; a broken file takes nothing else with it', async () => {
  await using dashboard = await startDashboardProcess()
  const bodies: readonly object[] = [
    {},
    { text: '' },
    { text: 'x'.repeat(201) },
    { text: 'a\u0000b' },
    { text: 'x', at: 'yesterday' },
    { text: 'x', at: '2026-13-41T00:00:00Z' },
    { text: 'x', more: 1 },
  ]
  for (const body of bodies) assert.equal((await post(dashboard, body)).status, 400, JSON.stringify(body))
  const elsewhere = { 'content-type': 'application/json', origin: 'http://evil.example' }
  for (const [method, path] of [
    ['POST', '/api/notes'],
    ['DELETE', '/api/notes/0123'],
  ] as const) {
    const init = { method, headers: elsewhere, body: '{"text":"x"}' }
    assert.equal((await fetch(dashboard.origin + path, init)).status, 403)
  }
  assert.equal((await post(dashboard, { text: 'kept' })).status, 201)
  writeFileSync(`${dashboard.directory}/data/notes.json`, '{"a": {"at": 5}}')
  const { notes, problem } = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual([notes.length, notes[0]?.text], [1, 'kept'])
  assert.match(String(problem), /notes\.json.* a\.at must be/)
  assert.equal(await codeOf(post(dashboard, { text: 'more' })), 'broken_notes_file')
  assert.equal((await dashboard.ask('GET', day)).status, 200)
})

test('a text that masking makes longer is cut; a thousand notes are the most', async () => {
  await using dashboard = await startDashboardProcess()
  const long = await post(dashboard, { text: 'http://u:p@h '.repeat(15), at: noon })
  assert.equal(long.status, 201)
  const { text, id } = (await long.json()) as Note
  assert.match(text, /^(?:http:\/\/\[secret\]@h )+/)
  assert.equal(text.length, 200)
  const { notes, problem } = await told<NotesReport>(dashboard.ask('GET', '/api/notes'))
  assert.deepEqual([notes.map((note) => note.id), problem], [[id], null])
  const onLines = await told<Note>(post(dashboard, { text: 'http://u:p@h\u2028'.repeat(15), at: noon }))
  assert.equal(onLines.text.length, 200)
  assert.equal((await told<NotesReport>(fetch(`${dashboard.origin}/api/notes`))).problem, null)

  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`n${n}`, { at: noon, text: 'x' }]))
  writeFileSync(`${dashboard.directory}/data/notes.json`, JSON.stringify(many))
  assert.equal(await codeOf(post(dashboard, { text: 'one more' })), 'too_many_notes')
  assert.equal((await dashboard.ask('DELETE', '/api/notes/n0')).status, 200)
  assert.equal((await post(dashboard, { text: 'one more' })).status, 201)
})
