import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { positional } from '../../src/cli/commands/env.ts'
import { askedAllTheSame } from '../clients/agents.ts'

const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')

test('docs/clients.md has a recipe of at most ten lines for every client of `tokenweir env`', () => {
  const recipes = [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, recipe = '']) => recipe)
  for (const recipe of recipes) assert.ok(recipe.trimEnd().split('\n').length <= 10, recipe)
  for (const client of positional[1].split(', '))
    assert.ok(
      recipes.some((recipe) => recipe.includes(`tokenweir env ${client}`)),
      client,
    )
})

test('docs/clients.md names what agents look up all the same', () => {
  const [, told = ''] = text.split('and no others:')
  for (const name of askedAllTheSame) assert.ok(told.split('. ')[0]?.includes(name), name)
})
