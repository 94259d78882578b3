import { test } from 'node:test'
import { upstreamDeaths } from '../faults/upstream-deaths.ts'
import { watchDeaths } from './watch-deaths.ts'

/** Of each kind of answer, by turns; `test/faults/thousand-deaths.ts` shows all of them to both. */
const [some, others] = [0, 1].map((turn) => upstreamDeaths.filter((_, index) => index % 2 === turn))

test('curl sees every death in mid-answer, gets all that came before, and the rows tell', (context) =>
  watchDeaths({ curl: some!, 'curl-1.0': others! }, context))
