import { appendFileSync } from 'node:fs'
import type { ObserveRows, RowObserver } from '../../src/call/row-observer.ts'
import type { StoredCall } from '../../src/call/call-record.ts'

export interface Script {
  /** Where it throws. */
  readonly failsIn?: 'load' | 'recorded' | 'answer'
  /** It notes there, line by line, what it saw. */
  readonly notes: string
}

/** An observer for tests, in the writer's thread. */
export const observeRows: ObserveRows<Script> = ({ failsIn, notes }, warn): RowObserver => {
  if (failsIn === 'load') throw new Error('it cannot be made')
  warn('script', { code: 'script_runs', message: 'it looks on' })
  const seen: StoredCall[] = []
  return {
    recorded(calls) {
      if (failsIn === 'recorded') throw new Error('it cannot look')
      seen.push(...calls)
      appendFileSync(notes, calls.map((call) => `${JSON.stringify(call)}\n`).join(''))
    },
    async answer(question) {
      if (failsIn === 'answer') throw new Error('it does not know')
      return `${question} ${seen.length}`
    },
    async close() {
      warn('script', null)
      await new Promise((resolve) => setImmediate(resolve))
      appendFileSync(notes, 'closed\n')
    },
  }
}
