import { connectShared, errorInWords } from '../postgres.ts'
import type { SharedDatabase } from './shared-database.ts'

const statementTimeoutMs = 20_000

/** Connects for sending and fetching rows. Rejects with a message for people. */
export async function connectRows(url: string): Promise<SharedDatabase> {
  try {
    return await connectShared(url, { applicationName: 'tokenweir rows', statementTimeoutMs })
  } catch (error) {
    throw new Error(errorInWords(error, url), { cause: error })
  }
}
