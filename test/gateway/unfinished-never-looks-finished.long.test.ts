import { test } from 'node:test'
import { upstreamDeaths } from '../faults/upstream-deaths.ts'
import { watchDeaths } from './watch-deaths.ts'

test('curl sees every death in mid-answer, gets all that came before, and the rows tell', (context) =>
  watchDeaths({ curl: upstreamDeaths, 'curl-1.0': upstreamDeaths }, context))
