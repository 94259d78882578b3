import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ModelLabels } from './model-labels.ts'

test('a hundred models have labels of their own, whoever comes later has none', () => {
  const models = new ModelLabels()
  for (let at = 0; at < 100; at++) assert.equal(models.labelOf(`m${at}`, false), `m${at}`)
  assert.equal(models.labelOf('late', false), 'other')
  assert.equal(models.labelOf('m99', false), 'm99')
  for (const nothing of [null, '']) assert.equal(models.labelOf(nothing, false), 'none')
})

test('names that only ever fail leave half of the places', () => {
  const models = new ModelLabels()
  for (let at = 0; at < 10_000; at++) models.labelOf(`no-such-${at}`, true)
  assert.equal(models.labelOf('no-such-10000', true), 'other')
  assert.equal(models.labelOf('real', true), 'other')
  assert.equal(models.labelOf('real', false), 'real')
  assert.equal(models.labelOf('real', true), 'real', 'once it has a label it keeps it')
})

const names: readonly (readonly [name: string, label: string])[] = [
  ['openai/gpt-5.1:free', 'openai/gpt-5.1:free'],
  ['模型 "é" \\', '模型 "é" \\'],
  ['a\nb\0c\u007f', 'a\ufffdb\ufffdc\ufffd'],
  ['\ud800x', '\ufffdx'],
  ['x'.repeat(500), 'x'.repeat(120)],
  [`${'x'.repeat(119)}😀`, `${'x'.repeat(119)}\ufffd`],
  ['__proto__', '__proto__'],
  ['a\u009bb\u202ec\u2066', 'a\ufffdb\ufffdc\ufffd'],
]
for (const [name, label] of names) {
  test(`${JSON.stringify(name.slice(0, 20))} is shown as ${JSON.stringify(label.slice(0, 20))}`, () => {
    assert.equal(new ModelLabels().labelOf(name, false), label)
  })
}
