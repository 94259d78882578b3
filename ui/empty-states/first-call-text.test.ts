import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FirstCallKind, firstCall, firstCallKinds, firstModel } from './first-call-text.ts'

test('the first call is a command that a shell takes', () => {
  const [first = '', ...rest] = firstCall('curl', 'http://localhost:9090/v1', 'gpt-5-mini').text.split('\n')
  assert.equal(first, String.raw`curl http://localhost:9090/v1/chat/completions \ `.trimEnd())
  const body = /-d '(.*)'$/.exec(rest.at(-1) ?? '')?.[1] ?? ''
  assert.equal((JSON.parse(body) as { model: string }).model, 'gpt-5-mini')
})

test('every kind goes to the gateway, and says which upstream it takes', () => {
  for (const kind of Object.keys(firstCallKinds) as FirstCallKind[]) {
    const { text, note } = firstCall(kind, 'http://box.lan:9090/v1', 'gpt-5-mini')
    assert.match(text, kind === 'claude' ? /=http:\/\/box\.lan:9090\n/ : /http:\/\/box\.lan:9090\/v1/)
    assert.equal(note !== null, kind === 'ollama' || kind === 'claude')
  }
  assert.match(
    firstCall('ollama', 'http://a/v1', 'gpt-5-mini').note ?? '',
    /Needs the upstream localhost:11434 \(http\): /,
  )
})

test('a first call asks for a model that the upstream has, and that a shell takes as it is', () => {
  assert.equal(firstModel([]), 'gpt-5-mini')
  assert.equal(firstModel(['nomic-embed-text', "x' $(rm -rf ~)", 'qwen3:8b']), 'qwen3:8b')
  assert.equal(firstModel(['zeta', 'gpt-5-mini']), 'gpt-5-mini')
  for (const kind of ['curl', 'python', 'javascript'] as const) {
    assert.match(firstCall(kind, 'http://a/v1', 'qwen3:8b').text, /["']qwen3:8b["']/)
  }
})
