import type { PageAddress } from '../data/page-address.ts'
import type { Overview } from '../../src/api/overview.ts'

/** The filter for the calls that times and speeds are of: those that went well, and of chat alone where that is so. */
export function timedCalls({ chat_only }: Pick<Overview, 'chat_only'>): Partial<PageAddress> {
  return { outcomes: ['ok'], ...(chat_only ? { callTypes: ['chat'] } : {}) }
}

/** Which calls times and speeds are of, in words. */
export function timedWords({ chat_only }: Pick<Overview, 'chat_only'>): string {
  return chat_only ? 'chat calls that succeeded' : 'calls that succeeded'
}
