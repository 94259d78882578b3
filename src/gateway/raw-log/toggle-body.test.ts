import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../call/failure.ts'
import { readToggle } from './toggle-body.ts'

const accepted = [
  ['{"enabled":true}', { enabled: true, forMs: null }],
  ['{"enabled":false}', { enabled: false, forMs: null }],
  ['{"enabled":true,"for_s":null}', { enabled: true, forMs: null }],
  ['{"enabled":true,"for_s":600,"why":"a demo"}', { enabled: true, forMs: 600_000 }],
  ['{"enabled":true,"for_s":0.0001}', { enabled: true, forMs: 1 }],
  ['{"enabled":true,"for_s":604800}', { enabled: true, forMs: 604_800_000 }],
] as const

for (const [text, expected] of accepted) {
  test(`${text} is a toggle`, () => assert.deepEqual(readToggle(text), expected))
}

const refused = [
  ['', /^enabled must be true or false; got nothing$/],
  ['{}', /^enabled must be true or false; got nothing$/],
  ['{"enabled":"true"}', /^enabled must be .* got "true"$/],
  ['{"enabled":1}', /^enabled must be/],
  ['{"enabled":null}', /^enabled must be .* got null$/],
  ['{"for_s":5}', /^enabled must be/],
  ['{"__proto__":{"enabled":true}}', /^enabled must be/],
  ['{"enabled":true,"for_s":0}', /^for_s must be a number of seconds above 0, 604,800 at most; got 0$/],
  ['{"enabled":true,"for_s":-1}', /^for_s must be/],
  ['{"enabled":true,"for_s":604801}', /^for_s must be/],
  ['{"enabled":true,"for_s":1e999}', /^for_s must be/],
  ['{"enabled":true,"for_s":"60"}', /^for_s must be/],
  ['{"enabled":false,"for_s":60}', /^for_s goes with enabled: true/],
  ['true', /JSON object/],
  ['[]', /JSON object/],
  ['null', /JSON object/],
  ['{"enabled":true', /not JSON/],
] as const

for (const [text, why] of refused) {
  test(`${text === '' ? 'nothing' : text} is refused as a toggle`, () => {
    assert.throws(
      () => readToggle(text),
      (error) => error instanceof Failure && error.code === 'invalid_request' && why.test(error.message),
    )
  })
}
