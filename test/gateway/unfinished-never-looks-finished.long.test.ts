import { test } from 'node:test'
import { upstreamDeaths } from '../faults/upstream-deaths.ts'
import { timesCount } from '../support/assert-within.ts'
import { watchDeaths } from './watch-deaths.ts'

/** Of each kind of answer, by turns. */
const [some, others] = [0, 1].map((turn) => upstreamDeaths.filter((_, index) => index % 2 === turn))
const thousand = Array.from({ length: 1000 }, (_, index) => upstreamDeaths[index % upstreamDeaths.length]!)

test('curl sees every death in mid-answer, gets all that came before, and the rows tell', (context) =>
  watchDeaths({ curl: some!, 'curl-1.0': others! }, context))

/** `npm run test:faults` measures it at its full length; the tests above hold it. */
if (timesCount) {
  test('a thousand deaths before each kind of client', async (context) => {
    for (const name of ['openai', 'raw', 'raw-1.0', 'curl', 'curl-1.0'])
      await watchDeaths({ [name]: thousand }, context)
  })
}
