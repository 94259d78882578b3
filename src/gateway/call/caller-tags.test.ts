import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RawTag, withTags } from '../http/caller-headers.ts'
import { type RequestFacts, RequestPeek } from '../http/request-peek.ts'
import { joinedTags, sessionInMetadata, tagsOfBody, tagText } from './caller-tags.ts'

function facts(body: object): RequestFacts {
  const peek = new RequestPeek()
  peek.push(Buffer.from(JSON.stringify(body)))
  return peek.result()
}

function tagsOf(headers: readonly (readonly [string, string])[], body: object = {}): string | null {
  let tags: readonly RawTag[] | null = null
  for (const [name, value] of headers) tags = withTags(tags, name, value)
  return joinedTags(tags ?? [], tagsOfBody(facts(body)), tagText)
}

test('tags of headers, then of the body', () => {
  const headers = [
    ['x-tokenweir-tag-team', 'search'],
    ['helicone-property-env', 'prod'],
    ['x-litellm-tags', 'nightly, priority:high,,'],
  ] as const
  const body = { user: 'u-1', safety_identifier: 's-1', metadata: { run: 7, dry: false } }
  const ofHeaders = 'team:search,env:prod,tag:nightly,priority:high'
  assert.equal(tagsOf(headers, body), `${ofHeaders},user:u-1,safety_identifier:s-1,run:7,dry:false`)
})

test('a header goes before the body, and what came twice counts once', () => {
  const ann = ['x-tokenweir-tag-user', 'ann'] as const
  assert.equal(tagsOf([ann, ann], { user: 'bob' }), 'user:ann')
})

test('there are eight at most, of 64 characters on either side', () => {
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i]))
  assert.equal(tagsOf([], { metadata })?.split(',').length, 8)
  assert.equal(tagsOf([['x-litellm-tags', 'a,'.repeat(5000)]]), 'tag:a')
  const long = { ['k'.repeat(65)]: 'v'.repeat(65) }
  assert.equal(tagsOf([], { metadata: long }), `${'k'.repeat(64)}:${'v'.repeat(64)}`)
})

test('commas and control characters are blanks, a colon ends the key, and half a tag is none', () => {
  assert.equal(tagsOf([], { metadata: { 'a:b': 'c:d', 'e,f': 'g,\u0000h\n' } }), 'a b:c:d,e f:g h')
  const halves = Object.entries({ 'x-tokenweir-tag-': 'v', 'x-tokenweir-tag-k': '' })
  assert.equal(tagsOf(halves, { user: ' ', metadata: { '': 1 } }), null)
})

test('what is not flat is left out', () => {
  assert.equal(tagsOf([], { metadata: { a: { b: 1 }, c: ['d'], e: null, f: 'g' } }), 'f:g')
  assert.equal(tagsOf([], { metadata: ['a'], user: { b: 1 } }), null)
  assert.equal(tagsOf([], { metadata: { big: 'x'.repeat(20_000) } }), null)
})

test('no credential is left in a tag', () => {
  const key = 'sk-proj-abcdEFGH1234ijklMNOP5678'
  const metadata = { api_key: 'hunter2hunter2', [key]: 'v' }
  const all = tagsOf([['x-tokenweir-tag-a', `is ${key}`]], { metadata })
  assert.doesNotMatch(String(all), /sk-proj|hunter2/)
})

const session = '57a121ec-f78c-48c3-a745-e3036a3ecc33'
const sessions: readonly [what: string, userId: unknown, session: string | null][] = [
  ['as Claude Code sent it', `user_${'0a'.repeat(32)}_account_${session}_session_${session}`, session],
  ['without an account', `user_${'0a'.repeat(32)}_account__session_${session}`, session],
  ['as it sends it', JSON.stringify({ device_id: 'd', account_uuid: '', session_id: session }), session],
  ['of somebody else', 'user-17', null],
  ['JSON without one', '{"device_id":"d"}', null],
  ['broken JSON', '{"session_id":"a', null],
  ['a session that is no text', '{"session_id":7}', null],
  ['far too long', `user_${'_account_'.repeat(1000)}`, null],
  ['no text', 7, null],
]
for (const [what, user_id, session] of sessions) {
  test(`metadata.user_id ${what} ${session === null ? 'names no session' : 'names a session, and is no tag'}`, () => {
    assert.equal(sessionInMetadata({ user_id }), session)
    const isTag = tagsOfBody(facts({ metadata: { user_id } })).length > 0
    assert.equal(isTag, session === null)
  })
}
