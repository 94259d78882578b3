import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { pathMeaning } from './path-meaning.ts'
import { parseTarget, parseUpstreamBase } from './target.ts'

function meaningOf(target: string, method = 'POST', base = 'http://127.0.0.1:8080') {
  return pathMeaning(parseUpstreamBase(base), parseTarget(target), method)
}

/** What a call on each path is; `!` is one that uses no model. */
const meanings: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions /v1/responses/compact',
  embedding: '/v1/score',
  rerank: '/v2/rerank',
  other: `/v1/audio/speech /v1/chat /v1/responses/abc /v1/threads/t/messages /v1beta/models/gemini:generateContent
    /api/chat /v1/cancel /v1/chat/completions/x/cancel`,
  'other!': `/v1/messages/count_tokens?beta=true /v1/responses/input_tokens /tokenize /v1/responses/r-1/cancel
    /v1/batches/b/cancel/ /v1/messages/batches/b/cancel /v1/threads/t/runs/r/cancel /v1/fine_tuning/jobs/j/pause
    /api/show /slots/0?action=erase`,
  props: '/v1/models',
  'props!': '/props /models/unload',
}

for (const [expected, targets] of Object.entries(meanings)) {
  for (const target of targets.split(/\s+/)) {
    test(`POST ${target} is ${expected.replace('!', ', and uses no model')}`, () => {
      const { callType, usesModel } = meaningOf(target)
      assert.equal(callType + (usesModel ? '' : '!'), expected)
    })
  }
}

test('what is no POST infers nothing, and uses no model', () => {
  for (const method of ['OPTIONS', 'HEAD', 'GET', 'DELETE', 'PUT']) {
    for (const target of ['/v1/chat/completions', '/v1/chat//completions', '/v1/embeddings/']) {
      const { name, callType, isInference, usesModel } = meaningOf(target, method)
      assert.deepEqual([name, callType, isInference, usesModel], ['', 'other', false, false])
    }
    assert.equal(meaningOf('/props', method).callType, 'props')
    assert.equal(meaningOf('/v1/models/org/name:8b', method).callType, 'props')
  }
  assert.equal(meaningOf('/v1/models', 'GET').name, '/v1/models')
  assert.equal(meaningOf('/v1/openai/models', 'GET').name, '')
})

test('a path may name a model', () => {
  for (const [target, model] of [
    ['/v1/models/org/name', 'org/name'],
    ['/v1/models/org%2Fn%C3%A9', 'org/né'],
    ['/openai/deployments/gpt-4o/chat/completions', 'gpt-4o'],
    ['/v1/openai/deployments/gpt%204/embeddings?api-version=1', 'gpt 4'],
    ['/v1/engines/davinci/completions', 'davinci'],
    ['/v1/chat/completions', null],
  ] as const) {
    assert.equal(meaningOf(target).model, model, target)
  }
})

const ends = {
  'chat/completions': 'chat',
  completions: 'chat',
  responses: 'chat',
  messages: 'chat',
  embeddings: 'embedding',
  rerank: 'rerank',
} as const

test('however a path is written, and whatever the base has before it, what the upstream sees is what it is', () => {
  const bases = 'http://h http://h/v1 https://h/api/v3 https://h/openai/deployments/d https://h/v2/'.split(
    ' ',
  )
  const before = ['', '/v1', '/v2', '/openai/deployments/d', '/openai/v1', '/api/v1', '/V1', '/x/y']
  const spelt = fc
    .tuple(
      fc.constantFrom(...Object.keys(ends)),
      fc.constantFrom(...before),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('case', 'escape', 'slash', 'parameter')), { maxLength: 6 }),
      fc.constantFrom('', '/', '//', ';a=b', '?api-version=2', '/?x'),
    )
    .map(([end, prefix, changes, tail]) => {
      let path = `${prefix}/${end}`.split('')
      for (const [at, change] of changes) {
        const i = 1 + (at % (path.length - 1))
        const letter = path[i] ?? ''
        if (change === 'case') path[i] = letter.length === 1 ? letter.toUpperCase() : letter
        else if (change === 'escape' && /^[a-z_]$/i.test(letter))
          path[i] = `%${letter.charCodeAt(0).toString(16)}`
        else if (change === 'slash' && letter === '/') path[i] = '//'
        else if (change === 'parameter' && letter === '/') path[i] = ';v=1/'
      }
      return { end, target: path.join('') + tail }
    })
  fc.assert(
    fc.property(fc.constantFrom(...bases), spelt, (base, { end, target }) => {
      const { callType, isInference, usesModel, name } = meaningOf(target, 'POST', base)
      assert.deepEqual([callType, isInference, usesModel], [ends[end as keyof typeof ends], true, true])
      assert.equal(name, `/v1/${end}`)
    }),
  )
})

test('an address with a whole path as its base is that path', () => {
  for (const target of ['/', '/v1/', '/v1//']) {
    const { name } = meaningOf(target, 'POST', 'https://h/v1/chat/completions')
    assert.equal(name, '/v1/chat/completions')
  }
})
